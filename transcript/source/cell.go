package source

import (
	"database/sql"
	"fmt"
	"strconv"
	"time"
)

// A cell scans a column into a variable of another type: SQLite keeps what a
// program stored, a text where a number was declared or nothing where something
// was expected. What cannot be converted is as if it were NULL, and NULL is the
// zero value.
type cell struct{ to any }

// cells makes cells of what is scanned into.
func cells(to ...any) []any {
	for i := range to {
		to[i] = cell{to[i]}
	}
	return to
}

// Scan implements [sql.Scanner].
func (c cell) Scan(v any) error {
	switch to := c.to.(type) {
	case *string:
		*to, _ = textOf(v)
	case *sql.NullString:
		to.String, to.Valid = textOf(v)
	case *[]byte:
		s, ok := textOf(v)
		if *to = nil; ok {
			*to = []byte(s)
		}
	case *sql.NullFloat64:
		to.Float64, to.Valid = numberOf(v)
	case *sql.NullInt64:
		to.Int64, to.Valid = wholeOf(v)
	case *int64:
		*to, _ = wholeOf(v)
	default:
		return fmt.Errorf("no column is scanned into a %T", c.to)
	}
	return nil
}

func textOf(v any) (text string, ok bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case bool:
		return strconv.FormatBool(v), true
	case time.Time:
		return v.Format(time.RFC3339Nano), true
	}
	return "", false
}

// numberOf returns a number, or the seconds from 1970 to a time.
func numberOf(v any) (number float64, ok bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int64:
		return float64(v), true
	case bool:
		if v {
			number = 1
		}
		return number, true
	}
	text, _ := textOf(v)
	if number, err := strconv.ParseFloat(text, 64); err == nil {
		return number, true
	}
	if at := parseTime(text); !at.IsZero() {
		return float64(at.UnixMicro()) / 1e6, true
	}
	return 0, false
}

func wholeOf(v any) (number int64, ok bool) {
	if n, is := v.(int64); is {
		return n, true
	}
	f, ok := numberOf(v)
	return int64(f), ok
}
