package wire

import (
	"bytes"
	"encoding/json"
	"testing"
)

func FuzzIDFinderAgreesWithJSON(f *testing.F) {
	f.Add([]byte(`{"id":1,"a":{"id":2}}`))
	f.Add([]byte(`{"a":"\"id\":","id":"x"}`))
	f.Add([]byte(`[{"id":1}]`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var find idFinder
		find.write(in)
		got := find.id()
		var object map[string]json.RawMessage
		if json.Unmarshal(in, &object) != nil || len(object["id"]) > maxID {
			return // any id, or none, will do for what is not a message
		}
		if bytes.Contains(in, []byte(`\`)) || bytes.Count(in, []byte(`"id"`)) > 1 {
			return // keys may be spelled in several ways, or twice
		}
		if want := usableID(object["id"]); string(got) != string(want) {
			t.Errorf("%q: found %q, want %q", in, got, want)
		}
	})
}
