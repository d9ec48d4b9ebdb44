package clients

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients/configfile"
)

var update = flag.Bool("update", false, "write the goldens anew")

// A situation is how a client's file may be found.
type situation struct {
	name   string
	before func(c Client) string // "none" is a file that is not there
	do     func(t *testing.T, c Client, path string) error
	wrong  error // what an install says then; the file is as before
}

const none = "none"

// situations are those that every client's file is tried in.
var situations = []situation{
	{"not there", func(Client) string { return none }, put, nil},
	{"existing", func(c Client) string { return uncommented(c) }, put, nil},
	{"commented", func(c Client) string { whole, _ := texts(c); return whole }, put, nil},
	{"broken", func(c Client) string { _, broken := texts(c); return broken }, put, configfile.ErrBroken},
	{"read-only", uncommented, func(t *testing.T, c Client, path string) error {
		if err := os.Chmod(path, 0o444); err != nil {
			t.Fatal(err)
		}
		return put(t, c, path)
	}, configfile.ErrReadOnly},
	{"symlinked", uncommented, func(t *testing.T, c Client, path string) error {
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(path, link); err != nil {
			t.Skip("no symlinks here:", err)
		}
		return put(t, c, link)
	}, nil},
	{"rewritten meanwhile", uncommented, func(t *testing.T, c Client, path string) error {
		wrote := false
		_, err := configfile.Edit(path, c.Format, false, func(d configfile.Document) error {
			if !wrote {
				wrote = true
				theirs := strings.Replace(uncommented(c), "other", "another", 1)
				if err := os.WriteFile(path, []byte(theirs), 0o600); err != nil {
					return err
				}
			}
			as := c.shape(d)
			return d.Set(as.Entry(c.Starting(ours)), as.path()...)
		})
		return err
	}, nil},
}

func put(_ *testing.T, c Client, path string) error {
	_, err := c.SetServer(path, ours, false)
	return err
}

// uncommented is a plain file with a server of somebody else's.
func uncommented(c Client) string {
	whole, _ := texts(c)
	var lines []string
	for line := range strings.Lines(whole) {
		if t := strings.TrimSpace(line); strings.HasPrefix(t, "//") || strings.HasPrefix(t, "#") {
			continue
		}
		lines = append(lines, strings.TrimSuffix(strings.Split(strings.Split(line, " //")[0], " #")[0], "\n")+"\n")
	}
	return strings.Replace(strings.Join(lines, ""), "  },\n}", "  }\n}", 1)
}

// What an install makes of every client's file, in every situation, is on
// record in testdata/golden, before and after.
func TestEveryClientsFileInEverySituation(t *testing.T) {
	for _, c := range All {
		t.Run(c.Name, func(t *testing.T) {
			var record txtar.Archive
			for _, s := range situations {
				before := s.before(c)
				path := filepath.Join(t.TempDir(), "config")
				if before != none {
					if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				err := s.do(t, c, path)
				if s.wrong == nil && err != nil || s.wrong != nil && !errors.Is(err, s.wrong) {
					t.Errorf("%s: error %v, want %v", s.name, err, s.wrong)
				}
				after := read(t, path)
				if s.wrong != nil && after != before {
					t.Errorf("%s: the file was touched:\n%s", s.name, after)
				}
				record.Files = append(record.Files, txtar.File{Name: s.name + ": before", Data: []byte(strings.TrimRight(before, "\n") + "\n")},
					txtar.File{Name: s.name + ": after", Data: []byte(after)})
			}
			golden := filepath.Join("testdata", "golden", c.Name+".txtar")
			if *update {
				if err := os.WriteFile(golden, txtar.Format(&record), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got := txtar.Format(&record); !bytes.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s\n(go test -update writes it)", got, want)
			}
		})
	}
}
