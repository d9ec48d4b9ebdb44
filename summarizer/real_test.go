package summarizer

import (
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/testbed"
	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/source"
)

var shownLine = regexp.MustCompile(`(?m)^\[m:(\d+)\] (?:user|assistant): ([\p{L}\p{N} ,'-]{30,160})`)

func TestNoInventedSentenceComesOutOfRealTranscripts(t *testing.T) {
	path := testbed.Path(t, "transcripts")
	db, err := transcript.Open(t.Context(), filepath.Join(t.TempDir(), "archive.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a temporary one
	for _, src := range source.All() {
		files, err := src.FindIn(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Ingest(t.Context(), src, files, true, nil); err != nil {
			t.Fatal(err)
		}
	}
	recent, err := db.Recent(t.Context(), transcript.Query{Limit: 400})
	if err != nil {
		t.Fatal(err)
	}
	// Each invention cites a message that was sent, or one that was not.
	inventions := []string{
		"The mayor of Oslo approved the seventh submarine [m:%s].", "Every invoice was burned at noon on 1871-05-09 [m:%s].",
		"It was all moved to /srv/never/there.img by Penelope [m:%s].", "Somebody won the raffle [m:%s1].", "The moon rose without any citation at all.",
	}
	offered := 0
	base, web := onLoopback(t, func(w http.ResponseWriter, r *http.Request) {
		var answer strings.Builder
		for i, m := range shownLine.FindAllStringSubmatch(asked(t, body(t, r)), 8) {
			offered++
			fmt.Fprintf(&answer, "%s [m:%s].\n", strings.TrimSpace(m[2]), m[1])
			if i%2 == 1 {
				invented := inventions[i/2%len(inventions)]
				if strings.Contains(invented, "%s") {
					invented = fmt.Sprintf(invented, m[1])
				}
				answer.WriteString(invented + "\n")
			}
		}
		answer.WriteString("The moon rose without any citation at all.\n")
		fmt.Fprint(w, shapes[OpenAI](said{text: answer.String()}))
	})
	c := &Client{Task: Task{Provider: OpenAI, BaseURL: base, Model: "m"}, HTTP: web}
	sessions, kept := 0, 0
	for _, s := range recent {
		msgs, _, _, err := db.Messages(t.Context(), s.ID, transcript.Window{After: 300})
		if err != nil {
			t.Fatal(err)
		}
		if len(around(msgs, nil)) < 3 {
			continue
		}
		got, err := c.Focus(t.Context(), "what happened", []Found{{Session: s, Messages: msgs}})
		if err != nil {
			t.Fatal(err)
		}
		sessions++
		kept += len(citation.FindAllString(got[0].Text, -1))
		for _, mark := range []string{"Oslo", "invoice was burned", "Penelope", "raffle", "The moon rose"} {
			if strings.Contains(got[0].Text, mark) {
				t.Errorf("%s: invented: %s", s.ID, got[0].Text)
			}
		}
	}
	if sessions < 50 || kept < offered*8/10 {
		t.Errorf("%d sessions, of %d true sentences %d kept", sessions, offered, kept)
	}
}
