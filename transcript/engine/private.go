package engine

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// dsn names the database file for the driver.
func dsn(path string, params ...string) string {
	p := filepath.ToSlash(path)
	if runtime.GOOS == "windows" && !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return "file:" + (&url.URL{Path: p}).EscapedPath() + "?" + strings.Join(params, "&")
}

// ownFolder is the name of the folder that holds nothing but our files.
const ownFolder = "mcp"

// makePrivate makes the archive's folder and file for their owner alone;
// SQLite's helper files inherit the file's rights. Our own folder is narrowed
// when it is wider, another's is left alone.
func makePrivate(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		return nil
	}
	if filepath.Base(dir) == ownFolder {
		if err := narrow(dir, 0o700); err != nil {
			return err
		}
	}
	// Nobody holds a lock on a file that is not there, so making it outside
	// SQLite is safe; opening one that is there would not be.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return fmt.Errorf("%s is a folder where a file is needed: move it aside", path)
		}
		return narrow(path, 0o600)
	}
	if err != nil {
		return err
	}
	return f.Close()
}

func narrow(path string, mode os.FileMode) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	return os.Chmod(path, mode)
}
