package web

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// ServeHTTP is the guard. In this order a request is refused: called by a name
// that is not ours (403: a page that rebinds its own name), from an origin
// that is not allowed (403, also with a good token), with a header twice that
// must be there once (400), without a token that we know (401, unless it asks
// where tokens come from), with one whose door is closed (403), with a body
// that is not JSON (415), too long (413) or not received in time (408).
// Nothing of ours has been looked at until then.
func (d *doors) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	await(w, d.answerTime())
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	if r.ContentLength != 0 {
		// Also for whoever is refused: the server reads the rest of their body.
		d.hurry(w, d.bodyTime())
	}
	if !d.ourName(r.Host) {
		refuse(w, http.StatusForbidden, "this server is not called "+printable(r.Host)+"; http.hosts names what else it is called")
		return
	}
	for _, name := range []string{"Authorization", "Origin", "Content-Type", "Content-Encoding", "Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"} {
		if len(r.Header.Values(name)) > 1 {
			refuse(w, http.StatusBadRequest, name+" was sent more than once")
			return
		}
	}
	if !d.ourOrigin(w, r) {
		refuse(w, http.StatusForbidden, "pages of this origin may not call; http.origins names those that may")
		return
	}
	if r.ContentLength != 0 && slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodDelete, http.MethodOptions}, r.Method) {
		refuse(w, http.StatusBadRequest, "only a POST has a body")
		return
	}
	if r.Method == http.MethodOptions { // a preflight carries no token
		w.Header().Set("Allow", "POST, GET, DELETE")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if d.Authority != nil && r.Method == http.MethodGet && r.URL.Path == d.Authority.MetadataPath() {
		d.introduce(w)
		return
	}
	g := d.known(r)
	if g == nil {
		challenge, why := `Bearer realm="hermes-mcp"`, "a bearer token is needed: the one in mcp/token of the server's home"
		if r.Header.Get("Authorization") != "" {
			challenge += `, error="invalid_token"`
			why = "this bearer token opens nothing here: send the one in mcp/token of the server's home"
		}
		if d.Authority != nil {
			challenge += fmt.Sprintf(", resource_metadata=%q", d.Authority.MetadataURL())
		}
		w.Header().Set("WWW-Authenticate", challenge)
		refuse(w, http.StatusUnauthorized, why)
		return
	}
	if g.Closed != "" {
		refuse(w, http.StatusForbidden, g.Closed)
		return
	}
	if r.Method == http.MethodPost {
		body, status, why := receive(w, r)
		if why != "" {
			refuse(w, status, why)
			return
		}
		d.hurry(w, 0)
		r.Body = io.NopCloser(bytes.NewReader(body))
		r = r.WithContext(context.WithValue(r.Context(), letterKey{}, open(body)))
	}
	d.mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), grantKey{}, g)))
}

type grantKey struct{}

func grantOf(ctx context.Context) *grant {
	g, _ := ctx.Value(grantKey{}).(*grant)
	return g
}

// hurry gives a client that long to send the rest of its request, or all the
// time with 0.
func (d *doors) hurry(w http.ResponseWriter, long time.Duration) {
	var until time.Time
	if long > 0 {
		until = time.Now().Add(long)
	}
	// Not every writer has deadlines; without one the size still bounds it.
	_ = http.NewResponseController(w).SetReadDeadline(until)
}

// await gives a client that long to take what is written next: one that stops
// reading must not hold a call, and its connection, for ever. Whoever writes later
// sets it anew.
func await(w http.ResponseWriter, long time.Duration) {
	// Not every writer has deadlines; the server's own has.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(long))
}

// refuse answers that a request was not let in. Callers say it in ASCII. The
// connection is closed, since there may be more of the request, which nobody
// waits for.
func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Connection", "close")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintln(w, why)
}

// printable is a short form of what a stranger sent.
func printable(s string) string { return fmt.Sprintf("%.60q", s) }

// ourName tells whether a Host header names this server: a loopback name with
// our port, or one that is configured. A unix socket has no name to check,
// and no page can reach it.
func (d *doors) ourName(host string) bool {
	if d.port == "" || slices.ContainsFunc(d.Hosts, func(h string) bool { return strings.EqualFold(h, host) }) {
		return true
	}
	name, port, err := net.SplitHostPort(host)
	if err != nil { // the scheme's own port is left out
		name, port = host, d.port
		if port != "80" && port != "443" {
			return false
		}
	}
	return port == d.port && slices.Contains([]string{"localhost", "127.0.0.1", "::1", "[::1]"}, strings.ToLower(name))
}

// ourOrigin tells whether the page that sends r, if it is one, may; one that
// may is told so, by its own name and never by a star.
func (d *doors) ourOrigin(w http.ResponseWriter, r *http.Request) bool {
	if len(r.Header.Values("Origin")) == 0 {
		// Browsers that leave Origin out of a GET say where it comes from.
		from := r.Header.Get("Sec-Fetch-Site")
		return from == "" || from == "none" || from == "same-origin"
	}
	origin := r.Header.Get("Origin")
	if !slices.Contains(d.Origins, origin) {
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate")
	if r.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "POST, GET, DELETE")
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name")
		h.Set("Access-Control-Max-Age", "600")
	}
	return true
}

// known is the grant of a bearer token: one of ours, each of which is compared
// in constant time, or one that the authorization server gave to a subject who
// may come in.
func (d *doors) known(r *http.Request) *grant {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return nil
	}
	token = strings.TrimSpace(token)
	given := digest("token", token)
	var found *grant
	for _, g := range d.grants {
		if subtle.ConstantTimeCompare(given, g.secret) == 1 {
			found = g
		}
	}
	if found != nil || d.Authority == nil {
		return found
	}
	subject, err := d.Authority.Check(r.Context(), token)
	if err != nil {
		d.log().Info("access token", "error", err)
		return nil
	}
	for _, g := range d.grants {
		if name, ok := d.Subjects[subject]; ok && g.Name == name {
			return g
		}
	}
	return nil
}

// introduce says where access tokens for this server come from.
func (d *doors) introduce(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	// The client that hung up is not told.
	_ = json.NewEncoder(w).Encode(d.Authority.Metadata())
}

// digest is a keyed digest, so that one made for one use means nothing in
// another.
func digest(use, text string) []byte {
	m := hmac.New(sha256.New, []byte("hermes-mcp "+use))
	m.Write([]byte(text))
	return m.Sum(nil)
}

// receive reads the body of a POST; why is "" when it may go on.
func receive(w http.ResponseWriter, r *http.Request) (body []byte, status int, why string) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, http.StatusUnsupportedMediaType, "Content-Type must be application/json"
	}
	if r.Header.Get("Content-Encoding") != "" {
		return nil, http.StatusUnsupportedMediaType, "the body must not be encoded"
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is longer than %d MiB: send less at once", maxBody>>20)
	case err != nil:
		return nil, http.StatusRequestTimeout, "the body did not arrive"
	}
	return body, 0, ""
}
