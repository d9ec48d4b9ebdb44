package reading

// A Reading is one way to read a text.
type Reading struct {
	View
	Glued [][2]int // where the view has letters without word boundaries
	coded bool     // the view is of something decoded, which stands at raw offset at
	at    int
}

// Offset returns the offset in the text as given of what byte i of the view
// comes from. For decoded text that is where the code begins.
func (r Reading) Offset(i int) int {
	if r.coded {
		return r.at
	}
	return r.Raw(i)
}

// Of returns the readings of text that differ: as it stands and with disguises
// undone, the same of whatever is encoded in it, rotated, reversed.
func Of(text string) []Reading {
	plain := Canonical(text)
	out := []Reading{{View: plain}}
	if u, glued, ok := disguise(plain, text); ok {
		out = append(out, Reading{u, glued, false, 0})
	}
	for _, d := range append(decode(text), composed(text)...) {
		v := Canonical(d.text)
		if u, glued, ok := disguise(v, d.text); ok {
			out = append(out, Reading{u, glued, true, d.at})
		} else {
			out = append(out, Reading{View: v, coded: true, at: d.at})
		}
	}
	if v, ok := rotate(plain, text); ok {
		out = append(out, Reading{View: v})
	}
	if upright, at := turn(text); at >= 0 {
		out = append(out, Reading{View: reverse(Canonical(upright)), coded: true, at: at})
	}
	return append(out, Reading{View: reverse(plain)})
}
