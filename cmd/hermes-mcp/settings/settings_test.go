package settings

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func none(string) string { return "" }

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAFlagBeatsTheEnvironmentBeatsOurFileBeatsHermes(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, "config.yaml"), "model: x\nmemory:\n  memory_char_limit: 1\n  user_char_limit: 11\n  provider: honcho\n")
	write(t, filepath.Join(home, "mcp", "config.yaml"), "memory: {memory_char_limit: 2}\n")
	env := map[string]string{}
	flags := map[string]string{}
	for _, step := range []struct {
		do   func()
		want int
		from string
	}{
		{func() {}, 2, "mcp/config.yaml"},
		{func() { env["HERMES_MCP_MEMORY_CHAR_LIMIT"] = "3" }, 3, "HERMES_MCP_MEMORY_CHAR_LIMIT"},
		{func() { flags["memory-char-limit"] = "4" }, 4, "--memory-char-limit"},
	} {
		step.do()
		c, problems := Load(home, flags, func(name string) string { return env[name] })
		if len(problems) > 0 {
			t.Errorf("problems: %v", problems)
		}
		if c.MemoryLimit != step.want || !strings.HasSuffix(filepath.ToSlash(c.Origins["memory.memory_char_limit"]), step.from) {
			t.Errorf("limit %d from %s, want %d from %s", c.MemoryLimit, c.Origins["memory.memory_char_limit"], step.want, step.from)
		}
		if c.UserLimit != 11 {
			t.Errorf("hermes' own user limit was not taken: %d", c.UserLimit)
		}
	}
}

func TestWhatIsWrongIsNamedAndLeavesTheRestUsable(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"an unknown key names the nearest", "memory: {memory_char_limt: 3}", "did you mean memory.memory_char_limit?"},
		{"a key at the wrong level names the right one", "inject: off", "did you mean memory.inject?"},
		{"a number that is far too large", "memory:\n  memory_char_limit: 99999999999999999999", "memory.memory_char_limit: 99999999999999999999 is not between 1 and 1000000"},
		{"a word where a number must be", "memory:\n  memory_char_limit: lots", "config.yaml:2: memory.memory_char_limit: \"lots\" is not a whole number"},
		{"a number out of range", "session_search: {limit: 99}", "99 is not between 1 and 10"},
		{"a list where a value must be", "memory: {inject: [a, {b: c}]}", "is not a list of plain words"},
		{"a block where a value must be", "memory: {inject: {x: y}}", "is a block of keys"},
		{"a value where a block must be", "memory: 3", "no such setting"},
		{"no mapping at all", "- a", "is not a mapping"},
		{"no YAML at all", "a: [", "did not find expected node content"},
		{"a task that is none", "auxiliary: {vision: {model: m}}", "no such setting"},
		{"a provider that is none", "auxiliary: {session_search: {provider: gpt}}", "is none of openai, anthropic"},
		{"a misspelt key of a task names the right one of that task", "auxiliary: {flush_memories: {modle: m}}", "did you mean auxiliary.flush_memories.model?"},
		{"a misspelt task names the right one", "auxiliary: {sesion_search: {timeout: 3}}", "did you mean auxiliary.session_search.timeout?"},
		{"an endpoint that is a file", "auxiliary: {session_search: {base_url: \"file:///etc\"}}", "begins with http:// or https://"},
		{"an endpoint without a scheme", "auxiliary: {session_search: {base_url: localhost}}", "begins with http:// or https://"},
		{"a trust that is none", "provider: {holographic: {min_trust: 2}}", "is no number above 0 and up to 1"},
		{"an age that is none", "provider: {holographic: {half_life: old}}", "is no age such as 90d"},
		{"a command that wants a shell", "provider: {exec: {command: \"sh -c 'x y'\"}}", "write it as a list"},
		{"a block that is a word", "provider: {exec: sh}", "below it are keys such as provider.exec.command"},
		{"a task that is a word", "auxiliary: {flush_memories: x}", "below it are keys such as auxiliary.flush_memories.provider"},
		{"a command that is none", "provider: {exec: {command: [[a]]}}", "is not a list of plain words"},
		{"a provider's key that is none", "provider: {exec: {comand: [a]}}", "did you mean provider.exec.command?"},
		{"an extra body that is none", "auxiliary: {session_search: {extra_body: [1]}}", "is no object"},
		{"a choice that is none", "memory: {inject: always}", "is none of auto, instructions, hook, off"},
	} {
		t.Run(test.name, func(t *testing.T) {
			home := t.TempDir()
			write(t, filepath.Join(home, "mcp", "config.yaml"), test.text)
			c, problems := Load(home, nil, none)
			if len(problems) != 1 || !strings.Contains(problems[0].String(), test.want) {
				t.Errorf("problems %v, want one with %q", problems, test.want)
			}
			if c.MemoryLimit != 2200 || c.Inject != "auto" {
				t.Errorf("defaults are gone: %+v", c)
			}
		})
	}
}

func TestTheProviderHasABlockOfItsOwn(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, "mcp", "config.yaml"), `provider:
  name: exec
  recall_timeout: 2
  exec: {command: [python3, "a, b.py", ""], dir: /d}
  holographic: {half_life: 90d, min_trust: 0.4}
`)
	c, problems := Load(home, nil, none)
	if len(problems) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	p := c.Provider
	if p.Name != "exec" || p.RecallTimeout != 2*time.Second || p.StartTimeout != 15*time.Second || p.PauseAfter != 5 || p.MaxRecall != 6000 {
		t.Errorf("%+v", p)
	}
	if strings.Join(p.Exec.Command, "|") != "python3|a, b.py|" || p.Exec.Dir != "/d" {
		t.Errorf("%+v", p.Exec)
	}
	if p.Holographic.HalfLife != 90*24*time.Hour || p.Holographic.MinTrust != 0.4 || p.Holographic.DefaultTrust != 0.5 {
		t.Errorf("%+v", p.Holographic)
	}
	write(t, filepath.Join(home, "mcp", "config.yaml"), "provider: {exec: {command: sh notes.sh /a}}\nmemory: {inject: off}\nsources: {exclude: [hermes, x]}\n")
	c, problems = Load(home, nil, none)
	if len(problems) > 0 || strings.Join(c.Provider.Exec.Command, "|") != "sh|notes.sh|/a" {
		t.Errorf("%+v, %v", c.Provider, problems)
	}
	if c.Inject != "off" || !c.Excluded("hermes") || c.Excluded("claude-code") {
		t.Errorf("config: %+v", c)
	}
}

func TestATaskOfTheAuxiliaryModelHasABlockOfItsOwn(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, "mcp", "config.yaml"), `auxiliary:
  daily_tokens: 5000
  daily_cost: 0.5
  session_search: {provider: openai, model: m, base_url: "http://127.0.0.1:1/v1", timeout: 5, max_concurrency: 2, extra_body: {temperature: 0.1, stop: [a]}}
  flush_memories:
    provider: anthropic
    model: n
    api_key_env: MY_KEY
    input_price: 1.5
`)
	c, problems := Load(home, nil, none)
	if len(problems) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	want := map[string]Task{
		"session_search": {Provider: "openai", Model: "m", BaseURL: "http://127.0.0.1:1/v1", Timeout: 5 * time.Second, MaxConcurrency: 2, ExtraBody: `{"stop":["a"],"temperature":0.1}`},
		"flush_memories": {Provider: "anthropic", Model: "n", APIKeyEnv: "MY_KEY", InputPrice: 1.5},
	}
	if !maps.Equal(c.Auxiliary.Tasks, want) || c.Auxiliary.DailyTokens != 5000 || c.Auxiliary.DailyCost != 0.5 {
		t.Errorf("%+v", c.Auxiliary)
	}
}

func TestHermesModelsAreUsedOnlyWhenTold(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, "config.yaml"), `auxiliary:
  session_search: {provider: openrouter, model: a, timeout: 30, extra_body: {}}
  flush_memories: {provider: auto, model: b, base_url: "http://127.0.0.1:2/v1", api_key: k}
  background_review: {provider: auto, model: c}
  vision: {provider: auto, model: d}
`)
	if c, problems := Load(home, nil, none); len(c.Auxiliary.Tasks) != 0 || len(problems) != 0 {
		t.Errorf("untold: %+v, %v", c.Auxiliary, problems)
	}
	write(t, filepath.Join(home, "mcp", "config.yaml"), "auxiliary: {use_hermes: true}")
	c, problems := Load(home, nil, none)
	want := map[string]Task{
		"session_search": {Provider: "openai", Model: "a", BaseURL: "https://openrouter.ai/api/v1", APIKeyEnv: "OPENROUTER_API_KEY", Timeout: 30 * time.Second},
		"flush_memories": {Provider: "openai", Model: "b", BaseURL: "http://127.0.0.1:2/v1", APIKey: "k"},
	}
	if !maps.Equal(c.Auxiliary.Tasks, want) {
		t.Errorf("%+v", c.Auxiliary)
	}
	if len(problems) != 1 || !problems[0].Foreign || !strings.Contains(problems[0].String(), "background_review") {
		t.Errorf("problems: %v", problems)
	}
}

func TestHermesOwnFileNeverStopsACommand(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, "config.yaml"), "memory: {memory_char_limit: many}\nunknown: {a: 1}\n")
	_, problems := Load(home, nil, none)
	if len(problems) != 1 || !problems[0].Foreign {
		t.Errorf("problems: %+v", problems)
	}
}

func TestFindHome(t *testing.T) {
	user := t.TempDir()
	machine := func(goos, hermesHome, local string) Machine {
		return Machine{GOOS: goos, User: user, Env: func(name string) string {
			return map[string]string{"HERMES_HOME": hermesHome, "LOCALAPPDATA": local}[name]
		}}
	}
	for _, test := range []struct {
		name          string
		m             Machine
		flag, profile string
		want, err     string
	}{
		{"the default is in the user's home", machine("linux", "", ""), "", "", filepath.Join(user, ".hermes"), ""},
		{"on Windows it is in local data", machine("windows", "", filepath.Join(user, "L")), "", "", filepath.Join(user, "L", "hermes"), ""},
		{"HERMES_HOME beats the default", machine("linux", filepath.Join(user, "h"), ""), "", "", filepath.Join(user, "h"), ""},
		{"the flag beats HERMES_HOME", machine("linux", "/nowhere", ""), filepath.Join(user, "f"), "", filepath.Join(user, "f"), ""},
		{"a tilde is the user's home", machine("linux", "~/x", ""), "", "", filepath.Join(user, "x"), ""},
		{"a profile is a home within", machine("linux", "", ""), "", "work", filepath.Join(user, ".hermes", "profiles", "work"), ""},
		{"the default profile is the home", machine("linux", "", ""), "", "default", filepath.Join(user, ".hermes"), ""},
		{"a profile cannot climb out", machine("linux", "", ""), "", "../x", "", "profile"},
		{"without any home there is a way out", Machine{GOOS: "linux", Env: none}, "", "", "", "--home"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h, err := test.m.Find(test.flag, test.profile)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("error %v, want %q in it", err, test.err)
				}
				return
			}
			if err != nil || h.Path != test.want {
				t.Errorf("home %q, %v; want %q", h.Path, err, test.want)
			}
		})
	}
}

func TestAnotherActiveProfileIsToldAndNotFollowed(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, "active_profile"), "work\n")
	h, err := Machine{GOOS: "linux", User: home, Env: func(string) string { return home }}.Find("", "")
	if err != nil || h.Path != home || !strings.Contains(h.Warning, "--profile work") {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestTheHomeIsMadeOnceAndNarrowed(t *testing.T) {
	h := Home{Path: filepath.Join(t.TempDir(), "a", "hermes")}
	first, err1 := h.Make()
	if err := os.Chmod(h.MCP(), 0o755); err != nil {
		t.Fatal(err)
	}
	second, err2 := h.Make()
	if !first || second || err1 != nil || err2 != nil {
		t.Errorf("made %v %v, errors %v %v", first, second, err1, err2)
	}
	if info, err := os.Stat(h.MCP()); err != nil || (os.PathSeparator == '/' && info.Mode().Perm() != 0o700) {
		t.Errorf("rights %v, %v", info.Mode(), err)
	}
}

func FuzzAnyFileGivesUsableSettings(f *testing.F) {
	f.Add("memory: {inject: off}")
	f.Add("a: &x {b: *x}")
	f.Add("memory:\n  - 1\n")
	f.Add("<<: {memory: 1}")
	f.Fuzz(func(t *testing.T, text string) {
		home := t.TempDir()
		write(t, filepath.Join(home, "mcp", "config.yaml"), text)
		c, _ := Load(home, nil, none)
		if c.MemoryLimit < 1 || c.SearchLimit < 1 || c.Inject == "" {
			t.Errorf("unusable: %+v", c)
		}
	})
}
