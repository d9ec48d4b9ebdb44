// Package oauth judges the access tokens of one authorization server.
//
// A [Server] takes signed tokens (JWT; RS256, ES256, EdDSA) that the
// authorization server made for this resource and for no other: the issuer,
// the audience, the time and the signature are checked, in this order, and the
// keys are those that the authorization server publishes. [Server.Metadata] is
// the document of RFC 9728 by which clients find the authorization server.
//
// # Limits
//
// Keys are asked for when a token comes that needs them, at most once a minute;
// a token with a key that is not published then is refused. Tokens that only
// the authorization server can read are not accepted.
//
// # What is never done
//
// A token is never passed on, kept or logged.
package oauth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// ErrToken is returned for a token that is not to be accepted.
var ErrToken = errors.New("access token refused")

// A Server is an authorization server that is trusted with this resource. Set
// the fields before first use. It is safe for concurrent use.
type Server struct {
	Issuer   string // its address, as in its tokens: https://login.example.com
	Resource string // ours, as clients know it: https://memory.example.com/mcp
	Client   *http.Client
	Now      func() time.Time // time.Now when nil

	mu     sync.Mutex
	keys   map[string]crypto.PublicKey // by kid
	asked  time.Time
	asking chan struct{} // closed when the keys that are being asked for are there; nil when none are
}

func (s *Server) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

// maxToken is the longest token that is looked at, in bytes.
const maxToken = 16 << 10

// leeway is how far the clocks of the two may be apart.
const leeway = 30 * time.Second

// Valid returns an error unless both addresses are such as may be trusted:
// https, or http on this machine.
func (s *Server) Valid() error {
	for name, address := range map[string]string{"authorization server": s.Issuer, "resource": s.Resource} {
		if !trusted(address) {
			return fmt.Errorf("%s %q: an https address without query or fragment is needed", name, address)
		}
	}
	return nil
}

func trusted(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return false
	}
	here := slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && here
}

// MetadataPath is where clients look for Metadata, on our own host.
func (s *Server) MetadataPath() string { return wellKnown(s.Resource, "oauth-protected-resource").Path }

// MetadataURL is MetadataPath with our own host.
func (s *Server) MetadataURL() string {
	return wellKnown(s.Resource, "oauth-protected-resource").String()
}

// wellKnown puts the name between host and path, as RFC 8414 and 9728 say.
func wellKnown(address, name string) *url.URL {
	u, err := url.Parse(address)
	if err != nil {
		return &url.URL{} // Valid has refused it
	}
	u.Path = "/.well-known/" + name + strings.TrimSuffix(u.Path, "/")
	return u
}

// Metadata says which authorization server gives tokens for this resource.
func (s *Server) Metadata() map[string]any {
	return map[string]any{
		"resource":                 s.Resource,
		"authorization_servers":    []string{s.Issuer},
		"bearer_methods_supported": []string{"header"},
		"resource_name":            "hermes-mcp",
	}
}

type claims struct {
	Issuer    string          `json:"iss"`
	Subject   string          `json:"sub"`
	Audience  json.RawMessage `json:"aud"`
	Expires   *float64        `json:"exp"`
	NotBefore float64         `json:"nbf"`
}

// Check returns whom the token was given to. The error wraps ErrToken, or is
// what kept us from the keys.
func (s *Server) Check(ctx context.Context, token string) (subject string, err error) {
	parts := strings.Split(token, ".")
	if len(token) > maxToken || len(parts) != 3 {
		return "", fmt.Errorf("%w: not a signed token", ErrToken)
	}
	var head struct {
		Algorithm string   `json:"alg"`
		Key       string   `json:"kid"`
		Critical  []string `json:"crit"`
	}
	var c claims
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || decode(parts[0], &head) != nil || decode(parts[1], &c) != nil || len(head.Critical) > 0 {
		return "", fmt.Errorf("%w: not a signed token", ErrToken)
	}
	if why := s.wrong(c); why != "" {
		return "", fmt.Errorf("%w: %s", ErrToken, why)
	}
	key, err := s.key(ctx, head.Key)
	if err != nil {
		return "", err
	}
	if !verify(head.Algorithm, key, parts[0]+"."+parts[1], signature) {
		return "", fmt.Errorf("%w: the signature is not its issuer's", ErrToken)
	}
	return c.Subject, nil
}

func decode(part string, into any) error {
	raw, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// wrong says what is wrong with the claims, or "".
func (s *Server) wrong(c claims) string {
	at := float64(s.now().Unix())
	switch {
	case c.Issuer != s.Issuer:
		return "another issuer's"
	case !slices.Contains(audiences(c.Audience), s.Resource):
		return "made for another resource"
	case c.Subject == "":
		return "given to nobody"
	case c.Expires == nil || at > *c.Expires+leeway.Seconds():
		return "expired"
	case at < c.NotBefore-leeway.Seconds():
		return "not valid yet"
	}
	return ""
}

// audiences are one or a list.
func audiences(raw json.RawMessage) []string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// verify tells whether signature is the key's. The kind of the key decides
// which algorithm may be named, never the token alone.
func verify(algorithm string, key crypto.PublicKey, signed string, signature []byte) bool {
	sum := sha256.Sum256([]byte(signed))
	switch k := key.(type) {
	case *rsa.PublicKey:
		return algorithm == "RS256" && rsa.VerifyPKCS1v15(k, crypto.SHA256, sum[:], signature) == nil
	case *ecdsa.PublicKey:
		return algorithm == "ES256" && len(signature) == 64 &&
			ecdsa.Verify(k, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:]))
	case ed25519.PublicKey:
		return algorithm == "EdDSA" && ed25519.Verify(k, []byte(signed), signature)
	}
	return false
}
