// Package settings finds the home of hermes-mcp and its settings.
//
// One table, [All], names every key with its type, default, flag, environment
// variable and meaning. Parsing, --help, README and status read that table and
// nothing else, so a key cannot exist in one of them only.
//
// A setting's value comes from its flag, else its environment variable, else
// <home>/mcp/config.yaml, else, for the keys that Hermes Agent has too, from
// Hermes' own <home>/config.yaml, else from the default. Whatever the place, a
// value is a text that goes through the same parser. Secrets are never flags.
//
// What is wrong with a file is returned as [Problem] values beside a usable
// [Config]: a command stops on them, a server starts without the bad key and
// says so, since a dead server helps nobody.
package settings

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Config is what a run goes by.
type Config struct {
	MemoryLimit    int // code points of MEMORY.md
	UserLimit      int // code points of USER.md
	ProjectLimit   int // code points of a project's MEMORY.md
	MemoryEnabled  bool
	UserEnabled    bool
	Inject         string // auto, instructions, hook, off
	WriteApproval  bool
	SearchLimit    int
	DefaultProject bool          // search the caller's project unless told otherwise
	Exclude        []string      // sources that are not archived; "*" is all
	Owner          []string      // "NAME" or "SOURCE=NAME", see Owns
	GroupPerUser   bool          // in a group chat each member has a session of their own
	ThreadPerUser  bool          // in a thread too
	MemoryScan     string        // strict, context, off; of MEMORY.md and what a session keeps
	UserScan       string        // of USER.md
	ProjectScan    string        // of a project's MEMORY.md
	RedactOutput   bool          // mask secrets in what leaves the archive
	RedactArchive  bool          // mask secrets before they are archived
	SnapshotIdle   time.Duration // silence after which a client without sessions gets a fresh snapshot
	HTTP           HTTP
	NudgeInterval  int    // prompts without a memory write before a review; 0 turns reviews off
	FlushMinTurns  int    // prompts below which a session is not flushed; 0 turns flushes off
	Summarize      string // whether a search asks the auxiliary model: off, ask, always
	Auxiliary      Auxiliary
	Embeddings     Embeddings
	Provider       Provider
	ArchiveMaxSize int64 // bytes that the archive should not outgrow; 0 is no limit
	// Origins names where each key that is not at its default came from.
	Origins map[string]string
}

// An HTTP is what the HTTP transports go by. The token is no setting: it comes
// from HERMES_MCP_TOKEN, else from the file mcp/token.
type HTTP struct {
	Addr            string // host:port, or unix:PATH
	Hosts, Origins  []string
	TLSCert, TLSKey string // files
	BehindProxy     bool
	MaxSessions     int
	// An authorization server whose tokens are taken, our address as it knows it,
	// and who may come in with one.
	Authority, Resource string
	Subjects            []string
}

// A Setting is one row of the table.
type Setting struct {
	Key     string // as in config.yaml, a dot between the levels
	Flag    string // without the dashes; "" when there is none
	Env     string
	Type    string
	Default string
	Meaning string
	Hermes  bool // also read from Hermes' own config.yaml
	put     func(c *Config, text string) error
	putTask func(task string) func(c *Config, text string) error // of a row that stands for every task
}

// All is the table of every key, in the order in which README shows it.
var All = slices.Concat(general, embeddings, providers, auxiliary, network)

var general = []Setting{
	{Key: "memory.memory_char_limit", Flag: "memory-char-limit", Env: "HERMES_MCP_MEMORY_CHAR_LIMIT", Type: "number", Default: "2200", Hermes: true,
		Meaning: "budget of MEMORY.md, in characters", put: number(1, 1_000_000, func(c *Config) *int { return &c.MemoryLimit })},
	{Key: "memory.user_char_limit", Flag: "user-char-limit", Env: "HERMES_MCP_USER_CHAR_LIMIT", Type: "number", Default: "1375", Hermes: true,
		Meaning: "budget of USER.md, in characters", put: number(1, 1_000_000, func(c *Config) *int { return &c.UserLimit })},
	{Key: "memory.project_char_limit", Flag: "project-char-limit", Env: "HERMES_MCP_PROJECT_CHAR_LIMIT", Type: "number", Default: "1100",
		Meaning: "budget of a project's own MEMORY.md, in characters", put: number(1, 1_000_000, func(c *Config) *int { return &c.ProjectLimit })},
	{Key: "memory.memory_enabled", Flag: "memory-enabled", Env: "HERMES_MCP_MEMORY_ENABLED", Type: "true/false", Default: "true", Hermes: true,
		Meaning: "whether MEMORY.md is offered", put: truth(func(c *Config) *bool { return &c.MemoryEnabled })},
	{Key: "memory.user_profile_enabled", Flag: "user-profile-enabled", Env: "HERMES_MCP_USER_PROFILE_ENABLED", Type: "true/false", Default: "true", Hermes: true,
		Meaning: "whether USER.md is offered", put: truth(func(c *Config) *bool { return &c.UserEnabled })},
	{Key: "memory.inject", Flag: "inject", Env: "HERMES_MCP_INJECT", Type: "auto/instructions/hook/off", Default: "auto",
		Meaning: "how the snapshot reaches the prompt", put: choice(func(c *Config) *string { return &c.Inject }, "auto", "instructions", "hook", "off")},
	{Key: "memory.write_approval", Flag: "write-approval", Env: "HERMES_MCP_WRITE_APPROVAL", Type: "true/false", Default: "false", Hermes: true,
		Meaning: "edits by a model wait for a person", put: truth(func(c *Config) *bool { return &c.WriteApproval })},
	{Key: "memory.nudge_interval", Type: "number", Default: "10", Hermes: true,
		Meaning: "prompts without an edit of the memory after which a session is reviewed, or without a model the agent is reminded; 0 is never", put: number(0, 10_000, func(c *Config) *int { return &c.NudgeInterval })},
	{Key: "memory.flush_min_turns", Type: "number", Default: "1",
		Meaning: "prompts below which a session that ends or is compacted is not flushed; 0 is never flush", put: number(0, 10_000, func(c *Config) *int { return &c.FlushMinTurns })},
	{Key: "memory.scan", Type: "strict/context/off", Default: "strict",
		Meaning: "how strictly what enters MEMORY.md is scanned; whatever it lets in, what reads like an attack stays masked in prompts", put: choice(func(c *Config) *string { return &c.MemoryScan }, scans...)},
	{Key: "memory.scan_user", Type: "strict/context/off", Default: "strict",
		Meaning: "the same for USER.md", put: choice(func(c *Config) *string { return &c.UserScan }, scans...)},
	{Key: "memory.scan_project", Type: "strict/context/off", Default: "strict",
		Meaning: "the same for a project's own MEMORY.md", put: choice(func(c *Config) *string { return &c.ProjectScan }, scans...)},
	{Key: "snapshot.idle", Flag: "snapshot-idle", Env: "HERMES_MCP_SNAPSHOT_IDLE", Type: "duration", Default: "30m",
		Meaning: "over HTTP: silence after which a session's state is dropped, and a client without sessions gets a fresh snapshot", put: duration(func(c *Config) *time.Duration { return &c.SnapshotIdle })},
	{Key: "session_search.limit", Flag: "search-limit", Env: "HERMES_MCP_SEARCH_LIMIT", Type: "number", Default: "5",
		Meaning: "sessions a search returns unless told otherwise, 1 to 10", put: number(1, 10, func(c *Config) *int { return &c.SearchLimit })},
	{Key: "session_search.default_project", Flag: "search-default-project", Env: "HERMES_MCP_SEARCH_DEFAULT_PROJECT", Type: "true/false", Default: "false",
		Meaning: "search the current project unless told otherwise", put: truth(func(c *Config) *bool { return &c.DefaultProject })},
	{Key: "session_search.summarize", Type: "off/ask/always", Default: "ask",
		Meaning: "whether a search asks the auxiliary model: never, when the call says so, always", put: choice(func(c *Config) *string { return &c.Summarize }, "off", "ask", "always")},
	{Key: "sources.exclude", Flag: "exclude-sources", Env: "HERMES_MCP_EXCLUDE_SOURCES", Type: "list", Default: "",
		Meaning: "sources that are not archived, `*` for all", put: list(func(c *Config) *[]string { return &c.Exclude })},
	{Key: "sources.owner", Type: "list", Default: "",
		Meaning: "with --user: whose the sessions are that carry no user, as `NAME` or `SOURCE=NAME`; nobody's when not said", put: list(func(c *Config) *[]string { return &c.Owner })},
	{Key: "group_sessions_per_user", Type: "true/false", Default: "true", Hermes: true,
		Meaning: "whether each member of a group chat has a session of their own", put: truth(func(c *Config) *bool { return &c.GroupPerUser })},
	{Key: "thread_sessions_per_user", Type: "true/false", Default: "false", Hermes: true,
		Meaning: "the same in a thread", put: truth(func(c *Config) *bool { return &c.ThreadPerUser })},
	{Key: "archive.max_size", Flag: "archive-max-size", Env: "HERMES_MCP_ARCHIVE_MAX_SIZE", Type: "size", Default: "",
		Meaning: "size such as `2GB` above which status, doctor and ingest say that the archive is too large; nothing is removed by itself", put: bytes(func(c *Config) *int64 { return &c.ArchiveMaxSize })},
	{Key: "redact.output", Flag: "redact-output", Env: "HERMES_MCP_REDACT_OUTPUT", Type: "mask/off", Default: "mask",
		Meaning: "what becomes of secrets in what leaves the archive", put: masking(func(c *Config) *bool { return &c.RedactOutput })},
	{Key: "redact.archive", Flag: "redact-archive", Env: "HERMES_MCP_REDACT_ARCHIVE", Type: "mask/off", Default: "off",
		Meaning: "what becomes of secrets before they are archived; what was archived before stays as it is", put: masking(func(c *Config) *bool { return &c.RedactArchive })},
}

// scans are the words of memory.scan and its like.
var scans = []string{"strict", "context", "off"}

var network = []Setting{
	{Key: "http.addr", Flag: "addr", Env: "HERMES_MCP_HTTP_ADDR", Type: "text", Default: "127.0.0.1:7523",
		Meaning: "where to listen, or `unix:PATH`", put: text(func(c *Config) *string { return &c.HTTP.Addr })},
	{Key: "http.hosts", Flag: "http-hosts", Env: "HERMES_MCP_HTTP_HOSTS", Type: "list", Default: "",
		Meaning: "names by which clients may call, beside localhost; with the port where it is not 80 or 443: `memory.example.com:7523`", put: list(func(c *Config) *[]string { return &c.HTTP.Hosts })},
	{Key: "http.origins", Flag: "http-origins", Env: "HERMES_MCP_HTTP_ORIGINS", Type: "list", Default: "",
		Meaning: "web pages that may call, such as `https://example.com`", put: list(func(c *Config) *[]string { return &c.HTTP.Origins })},
	{Key: "http.tls_cert", Flag: "tls-cert", Env: "HERMES_MCP_TLS_CERT", Type: "text", Default: "",
		Meaning: "certificate file, for TLS", put: text(func(c *Config) *string { return &c.HTTP.TLSCert })},
	{Key: "http.tls_key", Flag: "tls-key", Env: "HERMES_MCP_TLS_KEY", Type: "text", Default: "",
		Meaning: "file of the certificate's key", put: text(func(c *Config) *string { return &c.HTTP.TLSKey })},
	{Key: "http.behind_proxy", Flag: "behind-proxy", Env: "HERMES_MCP_BEHIND_PROXY", Type: "true/false", Default: "false",
		Meaning: "a proxy with TLS stands in front, so listening beyond this machine is meant", put: truth(func(c *Config) *bool { return &c.HTTP.BehindProxy })},
	{Key: "http.max_sessions", Flag: "http-max-sessions", Env: "HERMES_MCP_HTTP_MAX_SESSIONS", Type: "number", Default: "1000",
		Meaning: "sessions with state at once", put: number(1, 1_000_000, func(c *Config) *int { return &c.HTTP.MaxSessions })},
	{Key: "http.authorization_server", Flag: "authorization-server", Env: "HERMES_MCP_AUTHORIZATION_SERVER", Type: "text", Default: "",
		Meaning: "issuer whose access tokens are taken beside ours", put: text(func(c *Config) *string { return &c.HTTP.Authority })},
	{Key: "http.resource", Flag: "http-resource", Env: "HERMES_MCP_HTTP_RESOURCE", Type: "text", Default: "",
		Meaning: "this server's address, for which such a token must be made: `https://memory.example.com/mcp`", put: text(func(c *Config) *string { return &c.HTTP.Resource })},
	{Key: "http.subjects", Flag: "http-subjects", Env: "HERMES_MCP_HTTP_SUBJECTS", Type: "list", Default: "",
		Meaning: "who may come in with such a token: its subjects", put: list(func(c *Config) *[]string { return &c.HTTP.Subjects })},
}

// Defaults returns the Config of a run that nobody configured.
func Defaults() Config {
	c := Config{Origins: map[string]string{}}
	for _, s := range All {
		if s.put == nil {
			continue
		}
		if err := s.put(&c, s.Default); err != nil {
			panic("settings: default of " + s.Key + ": " + err.Error()) // the table itself is wrong
		}
	}
	return c
}

// find returns the row for key.
func find(key string) (Setting, bool) {
	for _, s := range All {
		if s.Key == key {
			return s, true
		}
		if row, ok := s.of(key); ok {
			return row, true
		}
	}
	return Setting{}, false
}

func number(low, high int, field func(*Config) *int) func(*Config, string) error {
	return func(c *Config, text string) error {
		n, err := strconv.Atoi(strings.ReplaceAll(text, "_", ""))
		if errors.Is(err, strconv.ErrRange) {
			return fmt.Errorf("%s is not between %d and %d", text, low, high)
		}
		if err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
		if n < low || n > high {
			return fmt.Errorf("%d is not between %d and %d", n, low, high)
		}
		*field(c) = n
		return nil
	}
}

func truth(field func(*Config) *bool) func(*Config, string) error {
	return func(c *Config, text string) error {
		switch strings.ToLower(text) {
		case "true", "yes", "on", "1":
			*field(c) = true
		case "false", "no", "off", "0":
			*field(c) = false
		default:
			return fmt.Errorf("%q is neither true nor false", text)
		}
		return nil
	}
}

// masking takes mask or off, and what means the same as a truth.
func masking(field func(*Config) *bool) func(*Config, string) error {
	return func(c *Config, text string) error {
		if strings.EqualFold(text, "mask") {
			text = "true"
		}
		if truth(field)(c, text) != nil {
			return fmt.Errorf("%q is neither mask nor off", text)
		}
		return nil
	}
}

func choice(field func(*Config) *string, words ...string) func(*Config, string) error {
	return func(c *Config, text string) error {
		word := strings.ToLower(text)
		if word == "false" {
			word = "off" // YAML 1.1 readers write off as false
		}
		if !slices.Contains(words, word) {
			return fmt.Errorf("%q is none of %s", text, strings.Join(words, ", "))
		}
		*field(c) = word
		return nil
	}
}

func text(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, text string) error {
		*field(c) = text
		return nil
	}
}

// bytes takes a number of bytes, or one with a unit; nothing is no limit.
func bytes(field func(*Config) *int64) func(*Config, string) error {
	units := []struct {
		suffix string
		size   float64
	}{{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"B", 1}, {"", 1}}
	return func(c *Config, text string) error {
		word := strings.ToUpper(strings.ReplaceAll(text, " ", ""))
		if word == "" || word == "OFF" || word == "FALSE" {
			*field(c) = 0
			return nil
		}
		for _, u := range units {
			number, ok := strings.CutSuffix(word, u.suffix)
			if !ok {
				continue
			}
			n, err := strconv.ParseFloat(number, 64)
			if err != nil || !(n >= 0 && n*u.size < 1e18) {
				break
			}
			*field(c) = int64(n * u.size)
			return nil
		}
		return fmt.Errorf("%q is no size such as 500MB or 2GB", text)
	}
}

// duration takes Go's form, or seconds.
func duration(field func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, text string) error {
		d, err := time.ParseDuration(text)
		if seconds, numeric := strconv.Atoi(text); numeric == nil {
			d, err = time.Duration(seconds)*time.Second, nil
		}
		if err != nil || d <= 0 {
			return fmt.Errorf("%q is no duration such as 30m", text)
		}
		*field(c) = d
		return nil
	}
}

func list(field func(*Config) *[]string) func(*Config, string) error {
	return func(c *Config, text string) error {
		*field(c) = nil
		for word := range strings.SplitSeq(text, ",") {
			if word = strings.TrimSpace(word); word != "" {
				*field(c) = append(*field(c), word)
			}
		}
		return nil
	}
}

// Excluded tells whether the source of that name is not to be archived.
func (c Config) Excluded(source string) bool {
	return slices.Contains(c.Exclude, source) || slices.Contains(c.Exclude, "*")
}
