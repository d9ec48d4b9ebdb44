package journal

import "time"

const digits = "0123456789abcdefghjkmnpqrstvwxyz" // no i, l, o, u: ids are read aloud and typed

const idLen = 11

// NewID returns an id for now that sorts after last.
func NewID(now time.Time, last string) string {
	id := encode(now.UnixMicro())
	if t, ok := IDTime(last); ok && id <= last {
		id = encode(t.UnixMicro() + 1)
	}
	return id
}

func encode(n int64) string {
	var b [idLen]byte
	for i := idLen - 1; i >= 0; i-- {
		b[i] = digits[n&31]
		n >>= 5
	}
	return string(b[:])
}

// IDTime returns the time that an id stands for.
func IDTime(id string) (time.Time, bool) {
	if len(id) != idLen {
		return time.Time{}, false
	}
	var n int64
	for _, c := range []byte(id) {
		v := -1
		for i := range digits {
			if digits[i] == c {
				v = i
			}
		}
		if v < 0 {
			return time.Time{}, false
		}
		n = n<<5 | int64(v)
	}
	return time.UnixMicro(n), true
}
