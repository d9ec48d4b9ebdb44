package roster_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/provider/roster"
)

func TestOneProviderIsOpenedByName(t *testing.T) {
	for _, tc := range []struct {
		name, opened string
		err          error
		says         string
	}{
		{"", "", nil, ""},
		{"none", "", nil, ""},
		{"Holographic", "holographic", nil, ""},
		{"exec", "exec", nil, ""},
		{"holographic, exec", "", roster.ErrSecond, "names exec beside holographic"},
		{"honcho2", "", roster.ErrUnknown, "none, exec, holographic"},
	} {
		p, err := roster.Open(roster.Config{Name: tc.name, Home: t.TempDir(), Exec: roster.Exec{Command: []string{"true"}}})
		if !errors.Is(err, tc.err) || (err != nil && !strings.Contains(err.Error(), tc.says)) {
			t.Errorf("%q: %v", tc.name, err)
		}
		if opened := ""; p != nil {
			if opened = p.Name(); opened != tc.opened {
				t.Errorf("%q opened %s", tc.name, opened)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		} else if tc.opened != "" {
			t.Errorf("%q opened nothing", tc.name)
		}
	}
	if _, err := roster.Open(roster.Config{Name: "exec"}); !errors.Is(err, roster.ErrSetting) || !strings.Contains(err.Error(), "provider.exec.command") {
		t.Errorf("exec without a command: %v", err)
	}
}

func TestEveryProviderThatIsListedOpens(t *testing.T) {
	for _, e := range roster.All() {
		p, err := roster.Open(roster.Config{Name: e.Name, Home: t.TempDir(), Exec: roster.Exec{Command: []string{"true"}}})
		if err != nil || p.Name() != e.Name || e.Summary == "" {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
}
