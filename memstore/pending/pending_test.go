package pending

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestARecordComesBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pending")
	if all, err := List(dir); err != nil || all != nil {
		t.Errorf("no folder: %v, %v", all, err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i, id := range []string{"bbbbbbbb", "aaaaaaaa"} {
		r := Record{ID: id, Subsystem: "memory", Action: "remove", CreatedAt: Time{at.Add(time.Duration(i) * time.Hour)}, Payload: Payload{Target: "user", Operations: []Op{{Action: "remove", OldText: "x", Matched: "x y"}}}}
		if err := Write(dir, r); err != nil {
			t.Fatal(err)
		}
	}
	all, err := List(dir)
	if err != nil || len(all) != 2 || all[0].ID != "bbbbbbbb" || !all[1].CreatedAt.Equal(at.Add(time.Hour)) || all[0].Payload.Ops()[0].Matched != "x y" {
		t.Fatalf("%+v, %v", all, err)
	}
	for range 2 { // once more does no harm
		if err := all[0].Remove(); err != nil {
			t.Fatal(err)
		}
	}
	if all, err = List(dir); err != nil || len(all) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}

// FuzzRecord checks that no file of any content does more than be told.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"id":"1","created_at":1764000000.5,"payload":{"action":"add","new_text":"c"}}`))
	f.Add([]byte(`{"created_at":"2026-01-02T03:04:05","payload":{"operations":[{}]}}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, raw []byte) {
		path := filepath.Join(dir, "1.json")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := List(dir)
		if err == nil && (len(all) != 1 || len(all[0].Payload.Ops()) == 0) {
			t.Errorf("got %+v", all)
		}
	})
}
