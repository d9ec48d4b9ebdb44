package summarizer

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestABudgetStopsAllProcessesUntilTomorrow(t *testing.T) {
	calls := 0
	base, web := onLoopback(t, func(w http.ResponseWriter, r *http.Request) {
		calls++
		fmt.Fprint(w, shapes[OpenAI](said{text: "hi"})) // 120 tokens
	})
	path := filepath.Join(t.TempDir(), "mcp", "account.json")
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.Local)
	client := func() *Client {
		return &Client{Task: Task{Name: FlushMemories, Provider: OpenAI, BaseURL: base, InputPrice: 10, OutputPrice: 100}, HTTP: web,
			Account: &Account{Path: path, DailyTokens: 300, Now: func() time.Time { return now }}}
	}
	for i := range 5 {
		_, err := client().ask(t.Context(), question)
		if want := i >= 3; errors.Is(err, ErrBudget) != want {
			t.Errorf("call %d: %v", i+1, err)
		}
	}
	if calls != 3 {
		t.Errorf("%d calls", calls)
	}
	s, err := client().Account.Statement()
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Tasks[FlushMemories]; got.Calls != 3 || got.InputTokens != 300 || got.OutputTokens != 60 || got.Cost < 0.0089 || got.Cost > 0.0091 {
		t.Errorf("%+v", got)
	}
	now = now.AddDate(0, 0, 1)
	if _, err := client().ask(t.Context(), question); err != nil {
		t.Errorf("the next day: %v", err)
	}
	dear := client()
	dear.Account = &Account{Path: path, DailyCost: 0.001, Now: dear.Account.Now}
	if _, err := dear.ask(t.Context(), question); !errors.Is(err, ErrBudget) {
		t.Errorf("over the cost: %v", err)
	}
}

func TestTokensThatAreNotToldAreGuessed(t *testing.T) {
	base, web := onLoopback(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"choices":[{"message":{"content":"hi"}}]}`)
	})
	c := &Client{Task: Task{Name: "x", Provider: OpenAI, BaseURL: base}, HTTP: web, Account: &Account{}}
	if _, err := c.ask(t.Context(), question); err != nil {
		t.Fatal(err)
	}
	s, err := c.Account.Statement()
	if err != nil || s.Tasks["x"].InputTokens == 0 || s.Tasks["x"].OutputTokens == 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestABrokenAccountSpendsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "account.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	base, web := onLoopback(t, func(http.ResponseWriter, *http.Request) { t.Error("called") })
	c := &Client{Task: Task{Provider: OpenAI, BaseURL: base}, HTTP: web, Account: &Account{Path: path, DailyTokens: 1000}}
	if _, err := c.ask(t.Context(), question); err == nil {
		t.Error("no error")
	}
}
