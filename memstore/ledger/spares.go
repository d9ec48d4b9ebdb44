package ledger

import "github.com/hermes-mcp/hermes-mcp/memstore/durable"

// A shelf keeps one spare file for the next edit. It is used by the one whose
// turn it is.
type shelf struct {
	made    chan durable.Spare
	asked   bool // there has been an edit: a program that makes but one needs no spare
	ordered bool // one is there, or will be
	none    bool // the system has none
}

func newShelf() shelf { return shelf{made: make(chan durable.Spare, 1)} }

// take returns the spare. One that is being made is waited for: to make another
// takes as long.
func (s *shelf) take() durable.Spare {
	if !s.ordered {
		return durable.Spare{}
	}
	spare := <-s.made
	s.ordered, s.none = false, !spare.Any()
	return spare
}

// order says that a spare for dir will be there; the function that it returns
// makes it, and must be called.
func (s *shelf) order(dir string) (fill func()) {
	if !s.asked || s.ordered || s.none {
		s.asked = true
		return func() {}
	}
	s.ordered = true
	return func() { s.made <- durable.NewSpare(dir) }
}

// clear gives the spare back to the disk.
func (s *shelf) clear() {
	spare := s.take()
	spare.Release()
}
