package source

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
)

// decode decodes b into v as far as the types agree: a field of another type
// than expected stays empty and is no error.
//
// Structs are filled here, where strings, truth values and raw JSON are taken as
// they stand: the library looks at every byte twice for each struct around it,
// which was a quarter of the time of an ingest. It gives what the library gives,
// but for a number where a string is expected, which is taken as it is written;
// the library takes over wherever there is something else to decode.
func decode(b []byte, v any) error {
	if !validJSON(b) {
		return agreed(json.Unmarshal(b, v)) // for the error
	}
	return decodeValid(b, v)
}

// decodeValid is decode for what stood in JSON that was decoded.
func decodeValid(b []byte, v any) error {
	to := reflect.ValueOf(v)
	if to.Kind() != reflect.Pointer || to.IsNil() || !fillable(to.Type().Elem()) {
		return agreed(json.Unmarshal(b, v))
	}
	return fill(b[skipSpace(b, 0):], to.Elem())
}

// agreed passes over what says that types do not agree.
func agreed(err error) error {
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return nil
	}
	return err
}

var (
	rawType     = reflect.TypeFor[json.RawMessage]()
	unmarshaler = reflect.TypeFor[json.Unmarshaler]()
)

// fillable tells whether fill knows the type better than the library: a struct that
// does not decode itself, or a list of such or of raw JSON.
func fillable(t reflect.Type) bool {
	if known, ok := knownFillable.Load(t); ok {
		return known.(bool)
	}
	can := t.Kind() == reflect.Struct || t.Kind() == reflect.Slice &&
		(t.Elem() == rawType || t.Elem().Kind() == reflect.Struct && fillable(t.Elem()))
	can = can && !reflect.PointerTo(t).Implements(unmarshaler)
	knownFillable.Store(t, can)
	return can
}

var knownFillable sync.Map // reflect.Type: bool

// fill decodes valid JSON that begins at b[0] into a value.
func fill(b []byte, to reflect.Value) error {
	t := to.Type()
	switch {
	case t == rawType:
		to.SetBytes(append([]byte(nil), b...))
		return nil
	case b[0] == 'n':
		return agreed(json.Unmarshal(b, to.Addr().Interface())) // null
	case t.Kind() == reflect.Struct && b[0] == '{' && fillable(t):
		return fillStruct(b, to)
	case t.Kind() == reflect.Slice && b[0] == '[' && fillable(t):
		return fillList(b, to)
	case t.Kind() == reflect.String && b[0] == '"' && !reflect.PointerTo(t).Implements(unmarshaler):
		s, _ := unquote(b) // it is valid
		to.SetString(s)
		return nil
	case t.Kind() == reflect.String && (b[0] == '-' || b[0] >= '0' && b[0] <= '9') && !reflect.PointerTo(t).Implements(unmarshaler):
		to.SetString(string(b)) // some versions write an id, a version or a word as a number
		return nil
	case t.Kind() == reflect.Bool && (b[0] == 't' || b[0] == 'f'):
		to.SetBool(b[0] == 't')
		return nil
	}
	return agreed(json.Unmarshal(b, to.Addr().Interface()))
}

func fillStruct(b []byte, to reflect.Value) error {
	fields := fieldsOf(to.Type())
	for i := skipSpace(b, 1); b[i] != '}'; i = skipSpace(b, i) {
		if b[i] == ',' {
			i = skipSpace(b, i+1)
		}
		end, _ := skipString(b, i)
		name := b[i:end]
		i = skipSpace(b, skipSpace(b, end)+1) // the colon
		end = skipValue(b, i)
		if at, ok := fields.at(name); ok {
			if err := fill(b[i:end], to.FieldByIndex(at)); err != nil {
				return err
			}
		}
		i = end
	}
	return nil
}

func fillList(b []byte, to reflect.Value) error {
	list := reflect.MakeSlice(to.Type(), 0, 4)
	for i := skipSpace(b, 1); b[i] != ']'; i = skipSpace(b, i) {
		if b[i] == ',' {
			i = skipSpace(b, i+1)
		}
		end := skipValue(b, i)
		one := reflect.New(to.Type().Elem()).Elem()
		if err := fill(b[i:end], one); err != nil {
			return err
		}
		list = reflect.Append(list, one)
		i = end
	}
	to.Set(list)
	return nil
}

// skipValue returns where the value of valid JSON that begins at i ends.
func skipValue(b []byte, i int) int {
	switch b[i] {
	case '"':
		end, _ := skipString(b, i)
		return end
	case '{', '[':
	default: // a number or a word
		for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] > ' ' {
			i++
		}
		return i
	}
	for depth := 0; ; i++ {
		switch b[i] {
		case '"':
			i, _ = skipString(b, i)
			i-- // the loop goes on
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}

// fieldNames are the fields of a struct by their names in JSON.
type fieldNames struct {
	exact, folded map[string][]int
}

var knownFields sync.Map // reflect.Type: fieldNames

func fieldsOf(t reflect.Type) fieldNames {
	if known, ok := knownFields.Load(t); ok {
		return known.(fieldNames)
	}
	f := fieldNames{map[string][]int{}, map[string][]int{}}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || !field.IsExported() || field.Anonymous {
			continue
		}
		name = first(name, field.Name)
		f.exact[name] = field.Index
		if folded := strings.ToLower(name); f.folded[folded] == nil {
			f.folded[folded] = field.Index
		}
	}
	knownFields.Store(t, f)
	return f
}

// at returns the field of a name as it stands in JSON, in quotes.
func (f fieldNames) at(quoted []byte) ([]int, bool) {
	name := quoted[1 : len(quoted)-1]
	if at, ok := f.exact[string(name)]; ok {
		return at, true
	}
	decoded, ok := unquote(quoted)
	if !ok {
		return nil, false
	}
	if at, ok := f.exact[decoded]; ok {
		return at, true
	}
	at, ok := f.folded[strings.ToLower(decoded)]
	return at, ok
}
