package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// An issuer is an authorization server with a key of each kind.
type issuer struct {
	*httptest.Server
	rsa   *rsa.PrivateKey
	ec    *ecdsa.PrivateKey
	ed    ed25519.PrivateKey
	asked int
}

func text(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{}
	var err error
	if i.rsa, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		t.Fatal(err)
	}
	if i.ec, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	if _, i.ed, err = ed25519.GenerateKey(rand.Reader); err != nil {
		t.Fatal(err)
	}
	point, err := i.ec.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	reply := func(path string, v func() any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			if err := json.NewEncoder(w).Encode(v()); err != nil {
				t.Error(err)
			}
		})
	}
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	reply("/.well-known/openid-configuration", func() any {
		return map[string]string{"issuer": i.URL, "jwks_uri": i.URL + "/keys"}
	})
	reply("/keys", func() any {
		i.asked++
		return map[string]any{"keys": []map[string]string{
			{"kty": "RSA", "kid": "rsa", "use": "sig", "n": text(i.rsa.N.Bytes()), "e": text(big.NewInt(int64(i.rsa.E)).Bytes())},
			{"kty": "EC", "kid": "ec", "crv": "P-256", "x": text(point[1:33]), "y": text(point[33:])},
			{"kty": "OKP", "kid": "ed", "crv": "Ed25519", "x": text(i.ed.Public().(ed25519.PublicKey))},
			{"kty": "oct", "kid": "secret", "k": "c2VjcmV0"},
			{"kty": "RSA", "kid": "to encrypt", "use": "enc", "n": text(i.rsa.N.Bytes()), "e": "AQAB"},
		}}
	})
	return i
}

// token signs claims with the key of that name, calling it what head says.
func (i *issuer) token(t *testing.T, name string, head, claims map[string]any) string {
	t.Helper()
	part := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return text(b)
	}
	signed := part(head) + "." + part(claims)
	sum := sha256.Sum256([]byte(signed))
	var signature []byte
	var err error
	switch name {
	case "rsa":
		signature, err = rsa.SignPKCS1v15(rand.Reader, i.rsa, crypto.SHA256, sum[:])
	case "ec":
		var r, s *big.Int
		r, s, err = ecdsa.Sign(rand.Reader, i.ec, sum[:])
		signature = append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	case "ed":
		signature = ed25519.Sign(i.ed, []byte(signed))
	}
	if err != nil {
		t.Fatal(err)
	}
	return signed + "." + text(signature)
}

const resource = "https://memory.example.com/mcp"

func TestATokenIsTakenOnlyWhenAllOfItIsRight(t *testing.T) {
	i := newIssuer(t)
	now := time.Now()
	good := func(change map[string]any) map[string]any {
		c := map[string]any{"iss": i.URL, "sub": "anna", "aud": resource, "exp": now.Add(time.Minute).Unix()}
		maps.Copy(c, change)
		return c
	}
	head := func(alg, kid string) map[string]any { return map[string]any{"alg": alg, "kid": kid} }
	for name, c := range map[string]struct {
		token string
		ok    bool
	}{
		"an RSA signature":                     {i.token(t, "rsa", head("RS256", "rsa"), good(nil)), true},
		"an elliptic signature":                {i.token(t, "ec", head("ES256", "ec"), good(nil)), true},
		"an Edwards signature":                 {i.token(t, "ed", head("EdDSA", "ed"), good(nil)), true},
		"one of several audiences":             {i.token(t, "ec", head("ES256", "ec"), good(map[string]any{"aud": []string{"x", resource}})), true},
		"another audience":                     {i.token(t, "ec", head("ES256", "ec"), good(map[string]any{"aud": "https://other.example.com/mcp"})), false},
		"an audience that only begins as ours": {i.token(t, "ec", head("ES256", "ec"), good(map[string]any{"aud": resource + "/x"})), false},
		"no audience":                          {i.token(t, "ec", head("ES256", "ec"), good(map[string]any{"aud": nil})), false},
		"another issuer":                       {i.token(t, "ec", head("ES256", "ec"), good(map[string]any{"iss": "https://evil.example"})), false},
		"expired":                              {i.token(t, "ec", head("ES256", "ec"), good(map[string]any{"exp": now.Add(-time.Minute).Unix()})), false},
		"never expiring":                       {i.token(t, "ec", head("ES256", "ec"), good(map[string]any{"exp": nil})), false},
		"not valid yet":                        {i.token(t, "ec", head("ES256", "ec"), good(map[string]any{"nbf": now.Add(time.Hour).Unix()})), false},
		"given to nobody":                      {i.token(t, "ec", head("ES256", "ec"), good(map[string]any{"sub": ""})), false},
		"no signature":                         {i.token(t, "", head("none", "ec"), good(nil)), false},
		"signed with a published key as text":  {i.token(t, "", head("HS256", "rsa"), good(nil)), false},
		"the algorithm of another key":         {i.token(t, "ec", head("RS256", "ec"), good(nil)), false},
		"the name of another key":              {i.token(t, "ec", head("ES256", "rsa"), good(nil)), false},
		"a key that is not published":          {i.token(t, "ec", head("ES256", "nobody"), good(nil)), false},
		"a key that is for secrets":            {i.token(t, "rsa", head("RS256", "to encrypt"), good(nil)), false},
		"claims changed afterwards":            {i.token(t, "ed", head("EdDSA", "ed"), good(nil))[:20] + "A" + i.token(t, "ed", head("EdDSA", "ed"), good(nil))[21:], false},
		"a critical extension":                 {i.token(t, "ec", map[string]any{"alg": "ES256", "kid": "ec", "crit": []string{"x"}}, good(nil)), false},
		"no token":                             {"..", false},
		"one of our own":                       {"0123456789abcdefghijklmnopqrstuvwxyz", false},
	} {
		s := &Server{Issuer: i.URL, Resource: resource}
		subject, err := s.Check(t.Context(), c.token)
		if c.ok && (err != nil || subject != "anna") || !c.ok && (!errors.Is(err, ErrToken) || subject != "") {
			t.Errorf("%s: %q %v", name, subject, err)
		}
	}
}

func TestKeysAreAskedForOnceAMinuteAtMost(t *testing.T) {
	i := newIssuer(t)
	s := &Server{Issuer: i.URL, Resource: resource}
	claims := map[string]any{"iss": i.URL, "sub": "anna", "aud": resource, "exp": time.Now().Add(time.Minute).Unix()}
	for range 5 {
		for _, kid := range []string{"ec", "unknown"} {
			_, err := s.Check(t.Context(), i.token(t, "ec", map[string]any{"alg": "ES256", "kid": kid}, claims))
			if (kid == "ec") != (err == nil) {
				t.Errorf("%s: %v", kid, err)
			}
		}
	}
	if i.asked != 1 {
		t.Errorf("asked %d times", i.asked)
	}
}

func TestWhoHasAKnownKeyDoesNotWaitForOthers(t *testing.T) {
	i := newIssuer(t)
	began, release := make(chan struct{}), make(chan struct{})
	slow := false
	now := time.Now()
	s := &Server{Issuer: i.URL, Resource: resource, Now: func() time.Time { return now }, Client: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if slow && strings.HasSuffix(r.URL.Path, "/keys") {
			close(began)
			<-release
		}
		return http.DefaultTransport.RoundTrip(r)
	})}}
	claims := map[string]any{"iss": i.URL, "sub": "anna", "aud": resource, "exp": now.Add(time.Hour).Unix()}
	check := func(kid string) error {
		_, err := s.Check(t.Context(), i.token(t, "ec", map[string]any{"alg": "ES256", "kid": kid}, claims))
		return err
	}
	if err := check("ec"); err != nil {
		t.Fatal(err)
	}
	slow, now = true, now.Add(2*askAgain)
	waiting := make(chan error, 2)
	go func() { waiting <- check("unknown") }()
	<-began
	if err := check("ec"); err != nil {
		t.Errorf("while a key is asked for: %v", err)
	}
	go func() { waiting <- check("unknown") }()
	close(release)
	for range 2 {
		if err := <-waiting; !errors.Is(err, ErrToken) {
			t.Errorf("an unknown key: %v", err)
		}
	}
	if i.asked != 2 {
		t.Errorf("asked %d times", i.asked)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAnIssuerThatIsNotItselfIsNotBelieved(t *testing.T) {
	i := newIssuer(t)
	s := &Server{Issuer: i.URL + "/tenant", Resource: resource}
	claims := map[string]any{"iss": s.Issuer, "sub": "anna", "aud": resource, "exp": time.Now().Add(time.Minute).Unix()}
	if _, err := s.Check(t.Context(), i.token(t, "ec", map[string]any{"alg": "ES256", "kid": "ec"}, claims)); err == nil {
		t.Error("no error")
	}
}

func TestAddressesMustBeTrustworthy(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://login.example.com": true, "https://login.example.com/tenant": true, "http://127.0.0.1:9000": true,
		"http://login.example.com": false, "login.example.com": false, "": false, "https://a@b.example": false, "https://b.example?x=1": false, "file:///etc/passwd": false,
	} {
		if err := (&Server{Issuer: address, Resource: resource}).Valid(); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
	s := &Server{Issuer: "https://login.example.com", Resource: resource}
	if got := s.MetadataURL(); got != "https://memory.example.com/.well-known/oauth-protected-resource/mcp" {
		t.Error(got)
	}
}

func FuzzCheckRefusesWhatIsNotSigned(f *testing.F) {
	f.Add("e30.e30.")
	f.Add("eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.")
	f.Fuzz(func(t *testing.T, token string) {
		s := &Server{Issuer: "https://127.0.0.1:1", Resource: resource}
		if subject, err := s.Check(t.Context(), token); err == nil || subject != "" {
			t.Errorf("%q: %q", token, subject)
		}
	})
}

func FuzzParseKey(f *testing.F) {
	f.Add([]byte(`{"kty":"RSA","n":"AQAB","e":"AQAB"}`))
	f.Add([]byte(`{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if _, key, err := parseKey(raw); err == nil && key == nil {
			t.Errorf("%q: neither a key nor an error", raw)
		}
	})
}
