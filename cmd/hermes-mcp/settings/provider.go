package settings

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Provider is what the one external memory goes by. Its own keys, those below
// its name, say nothing while another is named.
type Provider struct {
	Name                                        string // "" and none: there is none; several are for the roster to refuse
	NativeTools                                 bool
	StartTimeout, RecallTimeout, DeliverTimeout time.Duration
	PauseAfter                                  int
	Pause                                       time.Duration
	MaxRecall                                   int // characters
	Exec                                        Exec
	Holographic                                 Holographic
}

// An Exec is the block provider.exec.
type Exec struct {
	Command []string
	Dir     string
}

// A Holographic is the block provider.holographic.
type Holographic struct {
	Path                   string
	MinTrust, DefaultTrust float64
	HalfLife               time.Duration
}

// providers are the rows below provider.
var providers = []Setting{
	{Key: "provider.name", Type: "none/holographic/exec", Default: "none", Meaning: "the one external memory beside the built-in one", put: text(func(c *Config) *string { return &c.Provider.Name })},
	{Key: "provider.native_tools", Type: "true/false", Default: "false", Meaning: "offer the provider's own tools beside `memory_recall`", put: truth(func(c *Config) *bool { return &c.Provider.NativeTools })},
	{Key: "provider.start_timeout", Type: "duration", Default: "15s", Meaning: "of its start", put: duration(func(c *Config) *time.Duration { return &c.Provider.StartTimeout })},
	{Key: "provider.recall_timeout", Type: "duration", Default: "8s", Meaning: "of a recall and of a call of its own tools; a hook waits 8 s at most, start included", put: duration(func(c *Config) *time.Duration { return &c.Provider.RecallTimeout })},
	{Key: "provider.deliver_timeout", Type: "duration", Default: "60s", Meaning: "of one delivery", put: duration(func(c *Config) *time.Duration { return &c.Provider.DeliverTimeout })},
	{Key: "provider.pause_after", Type: "number", Default: "5", Meaning: "failures in a row after which it is left alone", put: number(1, 1000, func(c *Config) *int { return &c.Provider.PauseAfter })},
	{Key: "provider.pause", Type: "duration", Default: "2m", Meaning: "for how long", put: duration(func(c *Config) *time.Duration { return &c.Provider.Pause })},
	{Key: "provider.max_recall", Type: "number", Default: "6000", Meaning: "characters of a recall", put: number(200, 9000, func(c *Config) *int { return &c.Provider.MaxRecall })},
	{Key: "provider.exec.command", Type: typeCommand, Meaning: "the program and its arguments, as a list; one line is parted at blanks", put: command(func(c *Config) *[]string { return &c.Provider.Exec.Command })},
	{Key: "provider.exec.dir", Type: "text", Meaning: "the folder it runs in; the home when empty", put: text(func(c *Config) *string { return &c.Provider.Exec.Dir })},
	{Key: "provider.holographic.path", Type: "text", Meaning: "the store; `memory_store.db` in the home, which Hermes Agent has, when empty", put: text(func(c *Config) *string { return &c.Provider.Holographic.Path })},
	{Key: "provider.holographic.min_trust", Type: "fraction", Default: "0.3", Meaning: "trust below which nothing is recalled", put: fraction(func(c *Config) *float64 { return &c.Provider.Holographic.MinTrust })},
	{Key: "provider.holographic.default_trust", Type: "fraction", Default: "0.5", Meaning: "trust of a new fact", put: fraction(func(c *Config) *float64 { return &c.Provider.Holographic.DefaultTrust })},
	{Key: "provider.holographic.half_life", Type: "duration", Default: "0", Meaning: "age at which a fact counts half; 0 is never", put: age(func(c *Config) *time.Duration { return &c.Provider.Holographic.HalfLife })},
}

// typeCommand is a list whose words are kept as they are, commas and all.
const typeCommand = "command"

// command takes a JSON list of words, which is how a YAML list comes, or one
// line without quotes.
func command(field func(*Config) *[]string) func(*Config, string) error {
	return func(c *Config, text string) error {
		words := strings.Fields(text)
		switch {
		case strings.HasPrefix(text, "["):
			if err := json.Unmarshal([]byte(text), &words); err != nil {
				return fmt.Errorf("%q is no list of words", text)
			}
		case strings.ContainsAny(text, "\"'`$"):
			return fmt.Errorf("%q has signs of a shell, and no shell reads it: write it as a list, such as [sh, -c, \"…\"]", text)
		}
		*field(c) = words
		return nil
	}
}

// fraction takes a number above 0 and up to 1.
func fraction(field func(*Config) *float64) func(*Config, string) error {
	return func(c *Config, text string) error {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || !(f > 0 && f <= 1) {
			return fmt.Errorf("%q is no number above 0 and up to 1", text)
		}
		*field(c) = f
		return nil
	}
}

// age is a duration that may be none, or in days.
func age(field func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, text string) error {
		if text == "0" {
			*field(c) = 0
			return nil
		}
		if days, is := strings.CutSuffix(text, "d"); is {
			if n, err := strconv.Atoi(days); err == nil && n >= 0 && n <= 36_500 {
				*field(c) = time.Duration(n) * 24 * time.Hour
				return nil
			}
		}
		if duration(field)(c, text) != nil {
			return fmt.Errorf("%q is no age such as 90d or 12h", text)
		}
		return nil
	}
}
