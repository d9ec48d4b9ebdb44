package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/caller"
	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients"
	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/external"
	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/settings"
	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// An app is one run of the program.
type app struct {
	in       io.Reader
	out, err io.Writer
	env      func(string) string

	homeFlag, profileFlag, sessionFlag, userFlag string

	sessionKey   string      // of a gateway's chat
	user         string      // who is served, "" for whose home it is
	chats        atomic.Bool // some request told which chat it belongs to
	settingFlags map[string]*string
	given        map[string]string // the settings that flags gave

	home           settings.Home
	saidUnwritable bool // that the home can only be read
	config         settings.Config
	problems       []settings.Problem
	archive        archive
	embedder       embedder
	external       external.Memory // beside the built-in memory
	mirrored       atomic.Bool     // the provider is to be told an edit of this run
	log            zerolog.Logger  // says nothing until openLog
	logFile        *os.File
	hooking        bool
	profiles       map[string]*app // other homes that this run serves

	storesLock sync.Mutex
	opened     map[[2]string]*memstore.Store // by user and project
}

// bind declares the flags that every command has.
func (a *app) bind(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&a.homeFlag, "home", "", "folder that everything is kept in (HERMES_HOME, else ~/.hermes)")
	flags.StringVar(&a.profileFlag, "profile", "", "profile, a home within the home")
	flags.StringVar(&a.sessionFlag, "session", "", "current session as SOURCE:ID; a bare ID means claude-code")
	flags.StringVar(&a.sessionKey, "session-key", "", "current chat, where a gateway keeps many apart")
	flags.StringVar(&a.userFlag, "user", "", "who is served: with a USER.md of their own, and only their sessions (HERMES_MCP_USER)")
	a.settingFlags = map[string]*string{}
	for _, s := range settings.All {
		if s.Flag == "" {
			continue
		}
		meaning := fmt.Sprintf("%s (%s, %s)", strings.ReplaceAll(s.Meaning, "`", ""), s.Key, s.Env)
		a.settingFlags[s.Flag] = flags.String(s.Flag, s.Default, meaning)
		if s.Type == "true/false" {
			flags.Lookup(s.Flag).NoOptDefVal = "true"
		}
	}
}

// begin finds home and settings, and then runs do. A lenient command starts
// without what is wrong in the configuration and says so; others stop.
func (a *app) begin(cmd *cobra.Command, lenient bool, do func(ctx context.Context) error) error {
	machine := settings.Machine{GOOS: runtime.GOOS, User: a.userHome(), Env: a.env}
	for _, flag := range []struct{ name, would string }{
		{"home", "use the usual home"}, {"profile", "use the home itself"},
		{"user", "show what is everyone's"}, {"session-key", "show what is everyone's"},
	} {
		if f := cmd.Flags().Lookup(flag.name); f != nil && f.Changed && strings.TrimSpace(f.Value.String()) == "" {
			return usage("--%s is empty, which would %s: name one, or leave it out", flag.name, flag.would)
		}
	}
	var err error
	if a.home, err = machine.Find(a.homeFlag, a.profileFlag); err != nil {
		return failure{codeUsage, err}
	}
	if err := a.checkHome(lenient); err != nil {
		return err
	}
	a.user = cmp.Or(a.userFlag, a.env("HERMES_MCP_USER"))
	if err := checkUser(a.user); err != nil {
		return failure{codeUsage, err}
	}
	a.given = map[string]string{}
	for name, value := range a.settingFlags {
		if cmd.Flags().Changed(name) {
			a.given[name] = *value
		}
	}
	a.config, a.problems = settings.Load(a.home.Path, a.given, a.env)
	for _, name := range a.config.Exclude {
		if err := knownSource(name); err != nil && name != "*" {
			a.problems = append(a.problems, settings.Problem{Where: a.config.Origins["sources.exclude"], Key: "sources.exclude", Reason: err.Error()})
		}
	}
	for _, said := range a.config.Owner {
		name, _, one := strings.Cut(said, "=")
		if err := knownSource(name); err != nil && one {
			a.problems = append(a.problems, settings.Problem{Where: a.config.Origins["sources.owner"], Key: "sources.owner", Reason: err.Error()})
		}
	}
	a.connect()
	for _, p := range a.problems {
		if !lenient && !p.Foreign {
			return failure{codeUsage, errors.New(p.Advice())}
		}
		fmt.Fprintf(a.err, "hermes-mcp: %s (ignored)\n", p)
	}
	if a.home.Warning != "" {
		fmt.Fprintln(a.err, "hermes-mcp:", a.home.Warning)
	}
	a.setArchive()
	err = do(cmd.Context())
	var f failure
	if err != nil && !errors.As(err, &f) {
		err = failure{codeFailed, err}
	}
	return err
}

// checkHome refuses a home that is a file. A lenient command says so and goes on:
// a server that is not there can tell nobody what is wrong.
func (a *app) checkHome(lenient bool) error {
	info, err := os.Stat(a.home.Path)
	if err != nil || info.IsDir() {
		return nil
	}
	wrong := fmt.Sprintf("%s (%s) is a file, and a home is a folder: name another with --home", a.home.Path, a.home.From)
	if !lenient {
		return usage("%s", wrong)
	}
	fmt.Fprintln(a.err, "hermes-mcp:", wrong)
	return nil
}

// connect opens the external memory that is configured; where it cannot be, the
// run has none.
func (a *app) connect() {
	var err error
	if a.external, err = external.Open(a.config.Provider, a.home, &childLog{folder: a.home.MCP("logs")}); err != nil {
		a.problems = append(a.problems, settings.Problem{Where: cmp.Or(a.config.Origins["provider.name"], a.home.MCP("config.yaml")), Key: "provider", Reason: err.Error()})
	}
}

// makeHome makes the home on first use, with one line that says so. It is an
// error when nothing can be kept in one that is there.
func (a *app) makeHome() error {
	if err := a.home.Unwritable(); err != nil {
		return fmt.Errorf("%w: its memory and archive can only be read; --home names another", err)
	}
	made, err := a.home.Make()
	if made && !a.hooking {
		fmt.Fprintf(a.err, "hermes-mcp: made %s, where memory and archive are kept\n", a.home.Path)
	}
	return err
}

// onlyReads tells whether the home can only be read, and says so once. Where it
// can be written, it is made on first use.
func (a *app) onlyReads() (bool, error) {
	err := a.home.Unwritable()
	if err == nil {
		return false, a.makeHome()
	}
	if !a.saidUnwritable {
		a.saidUnwritable = true
		fmt.Fprintf(a.err, "hermes-mcp: %v: it is read and searched, and nothing is recorded\n", err)
	}
	return true, nil
}

// setArchive says where the archive is and how it is kept and searched.
func (a *app) setArchive() {
	a.archive.path, a.archive.mask = a.home.MCP("archive.db"), a.config.RedactArchive
	a.archive.embedder, a.archive.weight = a.embedding, a.config.Embeddings.Weight
	a.archive.unwritable = a.home.Unwritable
}

// close ends what the run had open.
func (a *app) close() {
	if a.mirrored.Load() && a.external.Due(context.Background()) {
		if err := a.detach(); err != nil {
			a.log.Error().Err(err).Msg("deliver to the provider")
		}
	}
	for name, one := range a.profiles {
		one.closeStores()
		if err := errors.Join(one.archive.close(), one.embedder.close(), one.external.Close()); err != nil {
			a.log.Error().Err(err).Str("profile", name).Msg("close archive, embedder and provider")
		}
	}
	a.closeStores()
	if err := errors.Join(a.archive.close(), a.embedder.close(), a.external.Close()); err != nil {
		a.log.Error().Err(err).Msg("close archive, embedder and provider")
	}
	if a.logFile != nil {
		if err := a.logFile.Close(); err != nil {
			fmt.Fprintln(a.err, "hermes-mcp: close log:", err)
		}
	}
}

// closeStores lets the stores finish what they do behind an edit.
func (a *app) closeStores() {
	a.storesLock.Lock()
	defer a.storesLock.Unlock()
	for _, store := range a.opened {
		if err := store.Close(context.Background()); err != nil { // also when the run was told to stop
			fmt.Fprintln(a.err, "hermes-mcp:", err)
			a.log.Error().Err(err).Msg("close memory")
		}
	}
}

// userHome is "" where the environment names none.
func (a *app) userHome() string {
	dir, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return dir
}

// dir is the folder the caller works in, "" when there is none.
func (a *app) dir() string {
	if dir := a.env("CLAUDE_PROJECT_DIR"); dir != "" {
		return filepath.Clean(dir)
	}
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}

// places says where agents keep their sessions. Which variables move them is
// the sources' knowledge, so they are given all.
func (a *app) places() transcript.Places {
	p := transcript.Places{Home: a.userHome(), HermesHome: a.home.Path, GOOS: runtime.GOOS, Env: map[string]string{}}
	for _, pair := range os.Environ() {
		if name, value, ok := strings.Cut(pair, "="); ok && value != "" {
			p.Env[name] = value
		}
	}
	return p
}

// clientPlace says where clients keep their configuration.
func (a *app) clientPlace() clients.Place {
	p := clients.Place{
		GOOS: runtime.GOOS, Home: a.userHome(), Data: a.env("APPDATA"),
		Config: a.env("XDG_CONFIG_HOME"), Claude: a.env("CLAUDE_CONFIG_DIR"), Codex: a.env("CODEX_HOME"),
		OpenCode: a.env("OPENCODE_CONFIG"), Hermes: a.home.Path,
	}
	if p.Config == "" {
		p.Config = filepath.Join(p.Home, ".config")
	}
	return p
}

// finder resolves the current session of this process.
func (a *app) finder() *caller.Finder {
	claude := a.env("CLAUDE_CONFIG_DIR")
	if claude == "" {
		claude = filepath.Join(a.userHome(), ".claude")
	}
	return &caller.Finder{
		Sessions: a.home.MCP("sessions"), Asked: a.sessionFlag, Env: a.env, Dir: a.dir(),
		ClaudeDir: claude, Ancestors: caller.Ancestors(os.Getpid()), Now: time.Now,
	}
}

// project is that of a folder, kept in projects.json once the home exists.
func (a *app) project(ctx context.Context, dir string) (caller.Project, error) {
	if dir == "" {
		return caller.Project{}, fmt.Errorf("no working folder: %w", caller.ErrNoProject)
	}
	p, err := caller.ProjectOf(dir, a.userHome(), a.home.MCP("projects.json"))
	if err != nil {
		return caller.Project{}, err
	}
	if _, err := os.Stat(a.home.MCP()); err != nil {
		return p, nil // nothing is made only to look
	}
	return caller.Remember(ctx, a.home.MCP("projects.json"), p)
}
