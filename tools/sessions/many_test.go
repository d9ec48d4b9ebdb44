package sessions

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// calls is how many calls are made in all, by walkers side by side; the race
// detector and -short make fewer.
const (
	calls   = 10_000
	walkers = 4
)

// A wanderer makes random calls of one tool and follows what they lead to.
type wanderer struct {
	t     *testing.T
	rng   *rand.Rand
	tool  func(args map[string]any) (map[string]any, int)
	ids   []string // sessions
	seen  [][2]any // messages: session and id
	made  int
	shown map[string]bool // by the run at hand
}

func TestTenThousandCallsKeepToTheirBudgetsAndLeadToTheEnd(t *testing.T) {
	most := calls
	if testing.Short() || racing {
		most = 400
	}
	db, ids := crowd(t, rand.New(rand.NewPCG(21, 4)))
	tool := searcher(db, Options{Redact: true})
	for i := range walkers {
		t.Run(fmt.Sprintf("walker %d", i), func(t *testing.T) {
			t.Parallel()
			w := &wanderer{t: t, rng: rand.New(rand.NewPCG(uint64(i), 4)), ids: ids}
			w.tool = func(args map[string]any) (map[string]any, int) { return size(t, tool, args) }
			w.wander(most / walkers)
		})
	}
}

// wander makes so many calls.
func (w *wanderer) wander(most int) {
	kinds := map[any]int{}
	longest := 0
	for w.made < most {
		args := w.draw()
		before := w.made
		mode := w.follow(args, "next")
		if mode == "scroll" || mode == "read" {
			w.follow(args, "previous")
		}
		kinds[mode]++
		longest = max(longest, w.made-before)
	}
	for _, mode := range []string{"discover", "scroll", "read", "browse"} {
		if kinds[mode] == 0 && most >= calls/walkers {
			w.t.Errorf("no run began with %s", mode)
		}
	}
	w.t.Logf("%d calls in runs of up to %d, begun with %v", w.made, longest, kinds)
}

// draw makes the arguments of a call: sense, nonsense and what is out of range.
func (w *wanderer) draw() map[string]any {
	args := map[string]any{}
	give := func(name string, of ...any) {
		if v := append(of, nil)[w.rng.IntN(len(of)+1)]; v != nil {
			args[name] = v
		}
	}
	give("query", "redis", "deploy gateway", "服务", `"deploy redis" OR panic`, "yesterday", "-", noise(w.rng, 3), noise(w.rng, 400), strings.Repeat("gateway ", 1300))
	give("limit", 0, 1, 3, 10, 99, "4")
	give("detail", "index", "full", "adaptive")
	give("role_filter", "user", "assistant,tool", "summary")
	give("sort", "newest", "oldest")
	if w.rng.IntN(4) == 0 {
		give("since", "2026-03-01", "90d", "2026")
		give("project", "/home/demo", "all")
		give("source", "claude-code", "codex")
	}
	if w.rng.IntN(2) == 0 {
		args["session_id"] = w.ids[w.rng.IntN(len(w.ids))]
		give("window", 1, 20, 300)
		give("offset", 0, 3, 100, 5000, -1, -20, -5000)
		if n := len(w.seen); n > 0 && w.rng.IntN(2) == 0 {
			at := w.seen[w.rng.IntN(n)]
			args["around_message_id"] = at[1]
			if w.rng.IntN(20) > 0 { // else a message of another session
				args["session_id"] = at[0]
			}
		}
	}
	return args
}

// follow calls with args and what the answers name, to the end, and returns the
// first answer's mode.
func (w *wanderer) follow(args map[string]any, way string) (mode any) {
	w.t.Helper()
	w.shown = map[string]bool{}
	for step := 0; args != nil; step++ {
		got, n := w.tool(args)
		w.made++
		raw, err := json.Marshal(args)
		if err != nil {
			w.t.Fatal(err)
		}
		if limit := detail(fmt.Sprint(args["detail"])).budget(); n > limit {
			w.t.Fatalf("%.300s: %d characters, budget %d", raw, n, limit)
		}
		if step == 0 {
			mode = got["mode"]
		}
		if got["success"] != true {
			if step > 0 || got["code"] != "not_found" {
				w.t.Fatalf("%.300s: %v", raw, got)
			}
			return mode
		}
		next, more := got["next"].(map[string]any)
		if got["truncated"] == true && !more {
			w.t.Fatalf("%.300s: truncated, and nothing goes on", raw)
		}
		if way == "previous" {
			if next, more = got["previous"].(map[string]any); !more && got["messages_before"] != 0.0 && len(messages(got)) > 0 {
				w.t.Fatalf("%.300s: %v before, and nothing goes back", raw, got["messages_before"])
			}
		}
		if news := w.note(got); step > 0 && !news && more {
			w.t.Fatalf("%.300s: step %d shows nothing new", raw, step)
		}
		if step > 4000 {
			w.t.Fatalf("%.300s: no end", raw)
		}
		args = next
	}
	return mode
}

// note remembers what an answer shows, and tells whether any of it is new.
func (w *wanderer) note(got map[string]any) (news bool) {
	see := func(key string) {
		news = news || !w.shown[key]
		w.shown[key] = true
	}
	for _, m := range messages(got) {
		if len(w.seen) < 5000 {
			session, _ := got["session"].(map[string]any)
			w.seen = append(w.seen, [2]any{session["session_id"], m["id"]})
		}
		see(fmt.Sprint(m["id"], m["next_offset"]))
	}
	for _, r := range results(got) {
		see(fmt.Sprint(r["session_id"]))
	}
	return news || len(messages(got))+len(results(got)) == 0
}

// Forward from the start and back from the end show the same messages, each
// once, and the ends say that they are ends.
func TestScrollingBackShowsWhatScrollingOnShows(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	db, ids := crowd(t, rng)
	tool := searcher(db, Options{})
	for _, id := range ids {
		all, _, _, err := db.Messages(t.Context(), id, transcript.Window{})
		if err != nil {
			t.Fatal(err)
		}
		walk := func(args map[string]any, way string, edge string) (order []string) {
			t.Helper()
			for {
				got, _ := size(t, tool, args)
				var page []string
				for _, m := range messages(got) {
					page = append(page, fmt.Sprint(m["id"]))
				}
				if way == "previous" {
					order = append(page, order...)
				} else {
					order = append(order, page...)
				}
				next, more := got[way].(map[string]any)
				if !more {
					if got[edge] != 0.0 {
						t.Errorf("%s: %s ends with %v %s", id, way, got[edge], edge)
					}
					return order
				}
				args = next
			}
		}
		back := walk(map[string]any{"session_id": id, "offset": -3}, "previous", "messages_before")
		var want []string
		for _, m := range all {
			if !empty(m) {
				want = append(want, messageID(m.ID))
			}
		}
		if strings.Join(back, " ") != strings.Join(want, " ") {
			t.Fatalf("%s: back shows %d messages of %d", id, len(back), len(want))
		}
	}
}

func TestTheEndOfALongSessionIsShown(t *testing.T) {
	db := open(t)
	var msgs []transcript.Message
	for i := range 700 {
		role := []transcript.Role{transcript.UserRole, transcript.Assistant}[i%2]
		msgs = append(msgs, said1(role, fmt.Sprintf("step %d of the move", i)))
	}
	msgs[350].Content = "the pelican came by"
	put(t, db, transcript.Session{ID: "codex:long", Title: "The move", StartedAt: day}, msgs...)
	tool := searcher(db, Options{})
	for _, query := range []string{"pelican", "move"} {
		got, _ := size(t, tool, map[string]any{"query": query})
		h := results(got)[0]
		last, _ := h["bookend_end"].([]any)
		if len(last) == 0 || !strings.Contains(fmt.Sprint(last[len(last)-1]), "step 699") {
			t.Errorf("%s: bookend_end is %v", query, h["bookend_end"])
		}
	}
	for _, c := range []struct {
		offset        int
		first, last   string
		before, after float64
	}{{-20, "step 680", "step 699", 680, 0}, {-1, "step 699", "step 699", 699, 0}, {-100000, "step 0 ", "", 0, -1}, {695, "step 695", "step 699", 695, 0}} {
		got, _ := size(t, tool, map[string]any{"session_id": "codex:long", "offset": c.offset})
		m := messages(got)
		if len(m) == 0 || !strings.Contains(fmt.Sprint(m[0]["content"]), c.first) || !strings.Contains(fmt.Sprint(m[len(m)-1]["content"]), c.last) ||
			got["messages_before"] != c.before || c.after >= 0 && got["messages_after"] != c.after {
			t.Errorf("offset %d: %v to %v, %v before, %v after", c.offset, m[0]["content"], m[len(m)-1]["content"], got["messages_before"], got["messages_after"])
		}
	}
}
