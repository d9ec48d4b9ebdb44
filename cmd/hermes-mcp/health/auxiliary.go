package health

import (
	"cmp"
	"fmt"

	"github.com/hermes-mcp/hermes-mcp/curator"
	"github.com/hermes-mcp/hermes-mcp/summarizer"
)

// A Model is what status says of one task.
type Model struct {
	Task     string `json:"task"`
	Model    string `json:"model"`
	Endpoint string `json:"endpoint"` // what sees transcripts
	summarizer.Spending
	Health  summarizer.Health `json:"health,omitzero"`
	Problem string            `json:"problem,omitempty"`
}

// String is a task on one line.
func (s Model) String() string {
	line := fmt.Sprintf("%s: %s at %s; today %d calls, %d failed, %d tokens", s.Task, cmp.Or(s.Model, "no model"), cmp.Or(s.Endpoint, "no endpoint"), s.Calls, s.Failures, s.InputTokens+s.OutputTokens)
	if s.Cost > 0 {
		line += fmt.Sprintf(", $%.4f", s.Cost)
	}
	if !s.Health.OpenUntil.IsZero() {
		line += fmt.Sprintf("; left alone until %s: %s", s.Health.OpenUntil.Local().Format("15:04:05"), s.Health.LastError)
	}
	if s.Problem != "" {
		line += "; " + s.Problem
	}
	return line
}

// jobs says what is queued, one line each.
func jobs(all []curator.Job) []string {
	var lines []string
	for _, j := range all {
		line := fmt.Sprintf("%s of %s, since %s", j.Kind, j.Session, j.Added.Local().Format("2006-01-02 15:04"))
		switch {
		case j.GivenUp:
			line += fmt.Sprintf(", given up after %d tries: %s", j.Attempts, j.Error)
		case j.Error != "":
			line += fmt.Sprintf(", again at %s: %s", j.Due.Local().Format("15:04"), j.Error)
		}
		lines = append(lines, line)
	}
	return lines
}

// checkAuxiliary looks at the models and at what waits for them.
func (s Subject) checkAuxiliary(add addCheck) {
	for _, m := range s.Models {
		v := Fine
		if m.Problem != "" || !m.Health.OpenUntil.IsZero() {
			v = Warn
		}
		add("auxiliary", v, "%s", m)
	}
	for i, line := range jobs(s.Jobs) {
		if s.Jobs[i].Error != "" {
			add("queue", Warn, "%s", line)
		}
	}
	for _, trouble := range s.Troubles {
		add("auxiliary", Bad, "%s", trouble)
	}
}
