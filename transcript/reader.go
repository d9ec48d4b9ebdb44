package transcript

import "slices"

// A Reader is who looks into an archive that holds sessions of several users.
// The zero Reader sees everything.
type Reader struct {
	User string   // sees only sessions that carry this user; "" sees all
	Owns []string // sources whose sessions are User's where they carry no user
}

// Sees tells whether s is there for r.
func (r Reader) Sees(s Session) bool { return r.sees(s.Source(), s.User) }

func (r Reader) sees(source, user string) bool {
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
