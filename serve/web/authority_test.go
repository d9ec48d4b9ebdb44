package web

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hermes-mcp/hermes-mcp/serve/web/oauth"
)

func TestAnAuthorizationServersTokensOpenForItsSubjectsOnly(t *testing.T) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text := base64.RawURLEncoding.EncodeToString
	var issuer *httptest.Server
	issuer = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("a token was passed on")
		}
		if r.URL.Path == "/keys" {
			fmt.Fprintf(w, `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"1","x":%q}]}`, text(public))
			return
		}
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, issuer.URL, issuer.URL+"/keys")
	}))
	defer issuer.Close()
	const resource = "https://memory.example.com/mcp"
	s := (&desk{}).site(t, func(h *HTTP) {
		h.Authority = &oauth.Server{Issuer: issuer.URL, Resource: resource}
		h.Subjects = map[string]string{"anna": "owner"}
	})
	bearer := func(subject, audience string) string {
		signed := text([]byte(`{"alg":"EdDSA","kid":"1"}`)) + "." +
			text(fmt.Appendf(nil, `{"iss":%q,"sub":%q,"aud":%q,"exp":%d}`, issuer.URL, subject, audience, time.Now().Add(time.Hour).Unix()))
		return "Bearer " + signed + "." + text(ed25519.Sign(private, []byte(signed)))
	}
	for name, c := range map[string]struct {
		authorization string
		status        int
	}{
		"a subject who may":         {bearer("anna", resource), 200},
		"a subject who may not":     {bearer("tom", resource), 401},
		"a token for another place": {bearer("anna", "https://other.example.com"), 401},
		"nothing of the kind":       {"Bearer a.b.c", 401},
		"our own token":             {"Bearer " + token, 200},
	} {
		r := s.send("POST", "/mcp", legacyHello, "Authorization", c.authorization)
		if r.status != c.status {
			t.Errorf("%s: %+v", name, r)
		}
		if c.status == 401 && !strings.Contains(r.header.Get("WWW-Authenticate"), `resource_metadata="https://memory.example.com/.well-known/oauth-protected-resource/mcp"`) {
			t.Errorf("%s: %q", name, r.header.Get("WWW-Authenticate"))
		}
	}
	r := s.send("GET", "/.well-known/oauth-protected-resource/mcp", "", "Authorization", "")
	var about map[string]any
	if err := json.Unmarshal([]byte(r.body), &about); err != nil || r.status != 200 || about["resource"] != resource || fmt.Sprint(about["authorization_servers"]) != "["+issuer.URL+"]" {
		t.Errorf("metadata: %+v %v", r, err)
	}
	if r := s.send("GET", "/.well-known/oauth-protected-resource/mcp", "", "Authorization", "", "Origin", "https://evil.example"); r.status != 403 {
		t.Errorf("metadata for a stranger's page: %+v", r)
	}
}
