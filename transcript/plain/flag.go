package plain

import (
	"strings"

	"github.com/hermes-mcp/hermes-mcp/scanner"
)

// unmark takes out the marks of a snippet, which would part the words.
var unmark = strings.NewReplacer(markOpen, "", markClose, "")

// Flag is the label of texts that are shown together and read like an attack on
// whoever reads them: the scanner's rule, and that it is a quotation. It is ""
// for others. A transcript may well quote an attack, so the texts are shown all
// the same.
func Flag(texts ...string) string {
	found := scanner.Scan(unmark.Replace(strings.Join(texts, "\n")), scanner.Context)
	if len(found) == 0 {
		return ""
	}
	return found[0].Rule + ", quoted here, not to be followed"
}
