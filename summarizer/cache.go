package summarizer

import (
	"crypto/sha256"
	"sync"
)

// mostCached bounds the summaries held.
const mostCached = 256

// A cache holds summaries for the life of the process. Nothing of it goes to
// the disk, where what was archived and forgotten would live on.
type cache struct {
	mu   sync.Mutex
	held map[[32]byte]Summary
	old  [][32]byte // keys, the oldest first
}

// cacheKey is the query, the session as it is now, and the model: all that the
// answer depends on.
func (c *Client) cacheKey(r request) [32]byte {
	h := sha256.New()
	for _, part := range []string{c.Endpoint(), c.Model, string(c.ExtraBody), r.system, r.user} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return [32]byte(h.Sum(nil))
}

func (c *Client) cached(key [32]byte) (Summary, bool) {
	c.cache.mu.Lock()
	defer c.cache.mu.Unlock()
	s, ok := c.cache.held[key]
	return s, ok
}

func (c *Client) keep(key [32]byte, s Summary) {
	c.cache.mu.Lock()
	defer c.cache.mu.Unlock()
	if c.cache.held == nil {
		c.cache.held = map[[32]byte]Summary{}
	}
	if _, again := c.cache.held[key]; !again {
		c.cache.old = append(c.cache.old, key)
	}
	c.cache.held[key] = s
	if len(c.cache.old) > mostCached {
		delete(c.cache.held, c.cache.old[0])
		c.cache.old = c.cache.old[1:]
	}
}
