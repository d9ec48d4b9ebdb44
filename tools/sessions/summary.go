package sessions

import (
	"context"
	"fmt"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/summarizer"
	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
)

// A Summarize says of sessions what they tell about a query, as
// summarizer.Client.Focus does: one summary for each, zero where there is none,
// and why some are missing.
type Summarize func(ctx context.Context, query string, found []summarizer.Found) ([]summarizer.Summary, error)

// Whether a search asks the auxiliary model.
const (
	SummarizeOff    = "off"
	SummarizeAlways = "always"
)

const (
	// summaryReach is how many messages on either side of a match are loaded
	// for a summary, which is cut further there.
	summaryReach = 150
	// summaryChars and summaryWhole are how much of a summary is shown, the
	// latter with detail full.
	summaryChars = 700
	summaryWhole = 1_400
)

// summaries says what a call that asks for summaries must know, and whether
// there will be some.
func (s *search) summaries(k ask, end *tail) bool {
	switch {
	case k.mode != discover || !k.summarize && s.WhenSummarize != SummarizeAlways:
		return false
	case s.WhenSummarize == SummarizeOff:
		end.add("Summaries are turned off in the configuration of this server: what follows is the evidence itself")
	case s.Summarize == nil && k.summarize:
		end.add("No auxiliary model is configured, so there are no summaries: what follows is the evidence itself")
	case s.Summarize != nil && k.detail == index:
		end.add("With detail index there are no summaries, since they stand beside their evidence")
	default:
		return s.Summarize != nil
	}
	return false
}

// summarize adds to each result what the model says of it. Without an answer
// the results stay as they are, and the note says why.
func (s *search) summarize(ctx context.Context, db *transcript.DB, k ask, f *found, hits []transcript.Hit) error {
	var all []summarizer.Found
	for _, h := range hits {
		one := summarizer.Found{Session: h.Holder}
		around := transcript.Window{After: 2 * summaryReach}
		if len(h.Matches) > 0 {
			around = transcript.Window{Around: h.Matches[0].MessageID, Before: summaryReach, After: summaryReach}
		}
		var err error
		if one.Messages, _, _, err = db.Messages(ctx, h.Holder.ID, around); err != nil {
			return fmt.Errorf("load %s for a summary: %w", h.Session.ID, err)
		}
		for _, m := range h.Matches {
			one.Matches = append(one.Matches, m.MessageID)
		}
		all = append(all, one)
	}
	if s.Progress != nil {
		s.Progress(ctx, fmt.Sprintf("sessions found: %d; the auxiliary model reads them", len(all)))
	}
	made, err := s.Summarize(ctx, k.query, all)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	room := summaryChars
	if k.detail == full {
		room = summaryWhole
	}
	some := false
	for i, m := range made {
		if m = m.Within(room); m.Text == "" || i >= len(f.Results) {
			continue
		}
		m.Text = s.Text(m.Text)
		f.Results[i].Summary = &m
		f.Results[i].flag(m.Text)
		some = true
	}
	if some {
		f.add("A summary is the words of a model; each sentence cites the messages it rests on as [m:ID]")
	} else if err == nil {
		f.add("The auxiliary model found nothing to say that it could cite")
	}
	if err != nil {
		f.add("Not every session has a summary: " + plain.Clip(s.Text(strings.ReplaceAll(err.Error(), "\n", "; ")), 200))
	}
	return nil
}
