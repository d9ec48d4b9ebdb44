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

// fill has a spare made in dir, without waiting for it. It is used up, or
// cleared, later.
func (s *shelf) fill(dir string) {
	if !s.asked || s.ordered || s.none {
		s.asked = true
		return
	}
	s.ordered = true
	go func() { s.made <- durable.NewSpare(dir) }()
}

// clear gives the spare back to the disk.
func (s *shelf) clear() {
	spare := s.take()
	spare.Release()
}
