package oauth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strings"
	"time"
)

const (
	askAgain = time.Minute      // before that an unknown key stays unknown
	askTime  = 10 * time.Second // for all that is asked
	maxReply = 1 << 20
)

// key returns the published key of that name. Who needs one that is known waits
// for nobody; who needs another waits while the keys are being asked for.
func (s *Server) key(ctx context.Context, name string) (crypto.PublicKey, error) {
	s.mu.Lock()
	age := s.now().Sub(s.asked)
	k, known := s.keys[name]
	asking := s.asking
	switch {
	case known && age < time.Hour:
		s.mu.Unlock()
		return k, nil
	case asking == nil && !s.asked.IsZero() && age < askAgain:
		s.mu.Unlock()
		return nil, fmt.Errorf("%w: its key is not known", ErrToken)
	case asking == nil:
		s.asked, s.asking = s.now(), make(chan struct{})
		s.mu.Unlock()
		if err := s.learn(ctx); err != nil {
			return nil, err
		}
	default:
		s.mu.Unlock()
		select {
		case <-asking:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if k, ok := s.keys[name]; ok {
		return k, nil
	}
	return nil, fmt.Errorf("%w: its key is not known", ErrToken)
}

// learn asks for the keys, and tells those who wait. Those from before stay when
// there is no answer.
func (s *Server) learn(ctx context.Context) error {
	// One caller that hangs up must not keep the keys from the others.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	defer cancel()
	keys, err := s.published(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.keys = keys
	}
	close(s.asking)
	s.asking = nil
	if err != nil {
		return fmt.Errorf("keys of %s: %w", s.Issuer, err)
	}
	return nil
}

// published are the keys that the authorization server signs with now.
func (s *Server) published(ctx context.Context) (map[string]crypto.PublicKey, error) {
	var about struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	err := s.get(ctx, wellKnown(s.Issuer, "oauth-authorization-server").String(), &about)
	if err != nil { // one that speaks OpenID only
		err = s.get(ctx, strings.TrimSuffix(s.Issuer, "/")+"/.well-known/openid-configuration", &about)
	}
	switch {
	case err != nil:
		return nil, err
	case about.Issuer != s.Issuer:
		return nil, fmt.Errorf("it calls itself %q", about.Issuer)
	case !trusted(about.Keys):
		return nil, fmt.Errorf("jwks_uri %q is not to be trusted", about.Keys)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := s.get(ctx, about.Keys, &set); err != nil {
		return nil, err
	}
	keys := map[string]crypto.PublicKey{}
	for _, raw := range set.Keys {
		// A key of a kind that we do not know is for somebody else.
		if name, key, err := parseKey(raw); err == nil {
			keys[name] = key
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("no usable key is published")
	}
	return keys, nil
}

func (s *Server) get(ctx context.Context, address string, into any) (err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	client := s.Client
	if client == nil {
		client = http.DefaultClient
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", address, res.Status)
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxReply)).Decode(into); err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	return nil
}

// parseKey reads one JWK that signs.
func parseKey(raw []byte) (name string, key crypto.PublicKey, err error) {
	var k struct {
		Kind  string `json:"kty"`
		Name  string `json:"kid"`
		Use   string `json:"use"`
		Curve string `json:"crv"`
		N     string `json:"n"`
		E     string `json:"e"`
		X     string `json:"x"`
		Y     string `json:"y"`
	}
	if err := json.Unmarshal(raw, &k); err != nil {
		return "", nil, err
	}
	number := func(text string) []byte {
		b, bad := base64.RawURLEncoding.DecodeString(text)
		err = errors.Join(err, bad)
		return b
	}
	unusable := fmt.Errorf("key %q of kind %s %s cannot be used", k.Name, k.Kind, k.Curve)
	if k.Use != "" && k.Use != "sig" {
		return "", nil, unusable
	}
	switch {
	case k.Kind == "RSA":
		n, e := new(big.Int).SetBytes(number(k.N)), new(big.Int).SetBytes(number(k.E))
		if n.BitLen() < 2048 || n.BitLen() > 8192 || !e.IsInt64() || e.Int64() < 3 || e.BitLen() > 31 {
			return "", nil, unusable
		}
		key = &rsa.PublicKey{N: n, E: int(e.Int64())}
	case k.Kind == "EC" && k.Curve == "P-256":
		x, y := number(k.X), number(k.Y)
		if len(x) != 32 || len(y) != 32 {
			return "", nil, unusable
		}
		key, err = ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, x...), y...))
	case k.Kind == "OKP" && k.Curve == "Ed25519":
		x := number(k.X)
		if len(x) != ed25519.PublicKeySize {
			return "", nil, unusable
		}
		key = ed25519.PublicKey(x)
	default:
		return "", nil, unusable
	}
	return k.Name, key, err
}
