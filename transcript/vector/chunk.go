package vector

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/scanner"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// A chunk is a piece of a conversation.
type chunk struct {
	message int64 // the first that it holds something of
	text    string
	hash    int64 // of both
	prompt  bool  // a user speaks in it
}

const (
	// enough is the length from which on a prompt begins a chunk of its own.
	enough = ChunkRunes / 3
	// most is how much of one message is embedded, head and tail.
	mostHead, mostTail = 8 * ChunkRunes, 2 * ChunkRunes
)

// chunks cuts a session, given in order, into pieces of about ChunkRunes. Adding
// messages changes only the last piece. Of more than MaxChunks pieces those are
// kept in which a user speaks, then the others, whichever have the smallest
// hashes, so that what is added displaces little.
func chunks(msgs []record.Message) []chunk {
	var out []chunk
	var text strings.Builder
	now, runes, seen := chunk{}, 0, map[int64]bool{}
	flush := func() {
		now.text = strings.TrimSpace(text.String())
		now.hash = hashOf(now)
		if now.text != "" && !seen[now.hash] { // a message may say the same all along
			seen[now.hash] = true
			out = append(out, now)
		}
		now, runes = chunk{}, 0
		text.Reset()
	}
	for i := range msgs {
		m := &msgs[i]
		said := scanner.Redact(record.Said(m)) // before any cut: half a secret is not recognised
		user := m.Role == record.UserRole
		if runes >= enough && user {
			flush()
		}
		for _, piece := range pieces(said) {
			n := utf8.RuneCountInString(piece)
			if runes > 0 && runes+n > ChunkRunes {
				flush()
			}
			if runes == 0 {
				now.message = m.ID
			} else {
				text.WriteByte('\n')
			}
			text.WriteString(piece)
			runes += n
			now.prompt = now.prompt || user
		}
	}
	flush()
	if len(out) <= MaxChunks {
		return out
	}
	rest := out[1:]
	sort.SliceStable(rest, func(i, j int) bool {
		if rest[i].prompt != rest[j].prompt {
			return rest[i].prompt
		}
		return uint64(rest[i].hash) < uint64(rest[j].hash)
	})
	return out[:MaxChunks]
}

func hashOf(c chunk) int64 {
	h := fnv.New64a()
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(c.message)))
	h.Write([]byte(c.text))
	return int64(h.Sum64())
}

// pieces cuts what was said in one message into pieces of at most ChunkRunes, at
// spaces where there are some.
func pieces(said string) []string {
	said = strings.TrimSpace(said)
	if said == "" {
		return nil
	}
	r := []rune(said)
	if len(r) > mostHead+mostTail {
		r = slices.Concat(r[:mostHead], []rune(" … "), r[len(r)-mostTail:])
	}
	var out []string
	for len(r) > 0 {
		n := min(ChunkRunes, len(r))
		if n < len(r) {
			for cut := n; cut > n*2/3; cut-- {
				if r[cut] == ' ' || r[cut] == '\n' {
					n = cut
					break
				}
			}
		}
		out = append(out, strings.TrimSpace(string(r[:n])))
		r = r[n:]
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}
