package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrOpen is returned by Listen for an address that others on the network
// could reach unprotected.
var ErrOpen = errors.New("refusing to listen beyond this machine without TLS: give certificate files, or say that a proxy stands in front")

// ErrAddress is returned by Listen for what is no address.
var ErrAddress = errors.New("is no address to listen on: write HOST:PORT, such as 127.0.0.1:7523, or unix:PATH")

// Listen opens addr: host:port, or unix:PATH for a socket that only this user
// may open. Beyond loopback it returns ErrOpen unless protected says that TLS
// or a proxy stands between the network and us. Errors: ErrOpen, ErrAddress, and
// what the network says.
func Listen(ctx context.Context, addr string, protected bool) (net.Listener, error) {
	var lc net.ListenConfig
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		if path == "" {
			return nil, fmt.Errorf("%q %w", addr, ErrAddress)
		}
		return listenUnix(ctx, lc, path)
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("%q %w", addr, ErrAddress)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return nil, fmt.Errorf("%q %w", addr, ErrAddress)
	}
	if ip := net.ParseIP(host); !protected && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("listen on %s: %w", addr, ErrOpen)
	}
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return ln, nil
}

// listenUnix opens a socket of this user's; one that a dead server left behind
// is replaced.
func listenUnix(ctx context.Context, lc net.ListenConfig, path string) (net.Listener, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("listen: %w", err)
	case info.Mode().Type() != os.ModeSocket:
		return nil, fmt.Errorf("listen: %s is there and is no socket: name another path", path)
	default:
		var dial net.Dialer
		if c, err := dial.DialContext(ctx, "unix", path); err == nil {
			return nil, errors.Join(fmt.Errorf("listen: another server listens on %s: end it, or name another path", path), c.Close())
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("listen: %w", err)
		}
	}
	ln, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("listen: %w", err), ln.Close())
	}
	return ln, nil
}

// Token returns the token in the file at path, one bare line, and makes the
// file when there is none. Rights wider than the user's own are narrowed. Two
// processes that ask at once get the same token.
func Token(path string) (string, error) {
	token, err := readToken(path)
	if !errors.Is(err, os.ErrNotExist) {
		return token, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".token-*") // 0600
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(rand.Text() + rand.Text() + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	// A link is never made over another: the first process wins.
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("token: %w", err)
	}
	return readToken(path)
}

func readToken(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("token: %s is not a file: remove it to have a new one made", path)
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := f.Chmod(0o600); err != nil {
			return "", fmt.Errorf("token: others may read %s: %w", path, err)
		}
	}
	text, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < MinToken || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("token: %s must hold one line of at least 32 characters: remove it to have a new one made", path)
	}
	return token, nil
}
