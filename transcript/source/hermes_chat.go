package source

import (
	"io"
	"os"
	"path/filepath"
)

// mostIndex bounds what is read of a routing index.
const mostIndex = 16 << 20

// hermesChats tells which chat each session belongs to that a gateway now goes
// on with, from its routing index sessions.json in dir: the key of the chat by
// the session's own id. Where nothing can be read, nothing is known.
func hermesChats(dir string) map[string]string {
	f, err := os.Open(filepath.Join(dir, "sessions.json"))
	if err != nil {
		return nil
	}
	raw, err := io.ReadAll(io.LimitReader(f, mostIndex))
	if closed := f.Close(); err != nil || closed != nil {
		return nil
	}
	var entries map[string]rawJSON
	if decode(raw, &entries) != nil {
		return nil
	}
	chats := make(map[string]string, len(entries))
	for key, entry := range entries {
		var e struct {
			Session string `json:"session_id"`
		}
		if len(key) > 0 && key[0] != '_' && decode(entry, &e) == nil && e.Session != "" {
			chats[e.Session] = key
		}
	}
	return chats
}
