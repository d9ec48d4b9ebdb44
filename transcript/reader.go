package transcript

import "slices"

// A Reader is who looks into an archive that holds sessions of several users
// and chats. The zero Reader sees everything.
type Reader struct {
	User string   // sees only sessions that carry this user; "" sees all
	Owns []string // sources whose sessions are User's where they carry no user
	Chat string   // sees only sessions of the chat with this key; "" sees all
}

// Sees tells whether s is there for r.
func (r Reader) Sees(s Session) bool { return r.sees(s.Source(), s.User, s.Chat) }

// all tells whether r sees everything.
func (r Reader) all() bool { return r.User == "" && r.Chat == "" }

func (r Reader) sees(source, user, chat string) bool {
	if r.Chat != "" && chat != r.Chat {
		return false // also where it is not known whose it is
	}
	if r.User == "" || user != "" {
		return r.User == "" || user == r.User
	}
	return slices.Contains(r.Owns, source)
}

// As returns the archive as r sees it: for everything that reads sessions,
// messages or lineages, those of others do not exist. Marks, counts and writes
// are as before. Only the original is to be closed.
func (db *DB) As(r Reader) *DB {
	view := *db
	view.reader = r
	return &view
}
