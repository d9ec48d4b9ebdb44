package digest

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/testbed"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// answerTurns says, for questions of LoCoMo dev, which turn of the gold session
// holds the answer (any one of those named), as read by a person: for a
// conversation and session, question: turns, counted from 0.
var answerTurns = map[string]string{
	"conv-26 S13": "51:0 52:10 121:2 122:3 123:5 124:6 176:2 177:5 178:6",
	"conv-26 S18": "72:0 73:0,2,6 74:16 75:0,2 141:0,2 142:6 143:4 144:6 145:2,4 146:4 147:8 148:12 149:16 189:0,2 190:6 191:4 192:6 193:2,4 194:4 195:16 196:20",
	"conv-26 S15": "60:1 61:10 62:27 127:22 128:27 129:27 181:22 182:18,20,25 183:27 184:27",
	"conv-41 S19": "34:0 110:0 111:2 112:7 113:11 114:11 175:7 176:11",
	"conv-41 S32": "151:10",
	"conv-41 S29": "55:0 56:1,3 140:3 141:9 142:0 186:3 187:9 188:0",
	"conv-43 S28": "68:0 69:0 172:0 173:2 174:9 239:2 240:9",
	"conv-43 S15": "123:2 124:6 125:10 126:13 127:29 128:31 129:33 211:2 212:6 213:13 214:29 215:31 216:33",
	"conv-43 S5":  "86:0 87:7",
	"conv-47 S18": "39:0 107:0,2 108:8 109:13,15 165:0,2 166:8 167:13,15",
	"conv-47 S3":  "4:2,4 72:2,4 73:4 74:10",
	"conv-47 S28": "57:18 58:26 139:24 140:2,4",
	"conv-49 S12": "58:1 119:1 120:3 177:1",
	"conv-49 S13": "57:13 60:6,7,9 61:3 121:9,13",
}

type history struct {
	ID       string `json:"id"`
	Sessions []struct {
		ID    string `json:"id"`
		Turns []struct {
			Role, Text string
		} `json:"turns"`
	} `json:"sessions"`
	QA []struct {
		Question string `json:"question"`
	} `json:"qa"`
}

func TestALineHoldsTheAnswerInFourOfFiveQuestions(t *testing.T) {
	raw, err := os.ReadFile(testbed.Path(t, "recall", "locomo_dev.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []history
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	asked, answered := 0, 0
	for key, questions := range answerTurns {
		conv, session, _ := strings.Cut(key, " ")
		h := all[slices.IndexFunc(all, func(h history) bool { return h.ID == conv })]
		var msgs []transcript.Message
		for _, s := range h.Sessions {
			if s.ID != session {
				continue
			}
			for i, turn := range s.Turns {
				role := transcript.UserRole
				if turn.Role != s.Turns[0].Role {
					role = transcript.Assistant
				}
				msgs = append(msgs, transcript.Message{ID: int64(i), Role: role, Content: turn.Role + ": " + turn.Text})
			}
		}
		for _, q := range strings.Fields(questions) {
			n, turns, _ := strings.Cut(q, ":")
			i, err := strconv.Atoi(n)
			if err != nil {
				t.Fatal(err)
			}
			d := Look(msgs, h.QA[i].Question).Digest(1200)
			total := chars(d.Lines)
			if d.Goal != nil {
				total += runes(d.Goal.Text) + runes(d.Outcome.Text)
			}
			if total > 1200 {
				t.Errorf("%s %s: %d characters", key, n, total)
			}
			asked++
			if slices.ContainsFunc(d.Lines, func(l Line) bool { return slices.Contains(strings.Split(turns, ","), l.MessageID) }) {
				answered++
			} else {
				t.Logf("%s: %s: wants turn %s, got %v", key, h.QA[i].Question, turns, d.Lines)
			}
		}
	}
	t.Logf("%d of %d digests hold the answer: %.3f", answered, asked, float64(answered)/float64(asked))
	if answered*100 < asked*80 {
		t.Errorf("only %d of %d digests hold the answer", answered, asked)
	}
}
