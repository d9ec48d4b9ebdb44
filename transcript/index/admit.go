package index

import (
	"context"
	"fmt"
)

// Admits returns what tells of a message whether a search with f could find it,
// and the session that it belongs to, which has no score and no matches. It is
// safe for concurrent use, and sees the archive as it is now.
func (x *Index) Admits(ctx context.Context, f Filter) (func(message int64) (Session, bool), error) {
	if err := x.refresh(ctx); err != nil {
		return nil, fmt.Errorf("read directory: %w", err)
	}
	d := &x.dir
	d.mu.RLock()
	r := f.resolve(d)
	d.mu.RUnlock()
	return func(message int64) (Session, bool) {
		d.mu.RLock()
		defer d.mu.RUnlock()
		m, s := d.at(message)
		if s == nil || !r.session(s) || !r.message(s, m) {
			return Session{}, false
		}
		return Session{ID: s.id, Root: s.root, Active: s.active, Opening: s.opening}, true
	}, nil
}
