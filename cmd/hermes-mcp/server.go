package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/server"
	"github.com/rs/zerolog"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/caller"
	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients"
	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/resources"
	"github.com/hermes-mcp/hermes-mcp/serve"
	"github.com/hermes-mcp/hermes-mcp/summarizer"
	"github.com/hermes-mcp/hermes-mcp/tools"
	"github.com/hermes-mcp/hermes-mcp/tools/sessions"
)

// openStore returns the curated memory of the home as it is seen from the
// folder dir, whose project has a memory of its own, by the user that this run
// serves. Nothing is made.
func (a *app) openStore(ctx context.Context, dir string) (*memstore.Store, error) {
	return a.openStoreOf(ctx, a.user, dir)
}

// openStoreOf is openStore for a user of one's own choice.
func (a *app) openStoreOf(ctx context.Context, user, dir string) (*memstore.Store, error) {
	project := ""
	if p, err := a.project(ctx, dir); err == nil {
		project = p.Key
	}
	return a.storeOf(user, project)
}

// storeOf is the store of a user and the key of a project. Who asks twice gets
// the same one, which close closes.
func (a *app) storeOf(user, project string) (*memstore.Store, error) {
	key := [2]string{user, project}
	a.storesLock.Lock()
	defer a.storesLock.Unlock()
	if store := a.opened[key]; store != nil {
		return store, nil
	}
	store, err := memstore.Open(a.home.Path)
	if err != nil {
		return nil, err
	}
	store.User, store.Project = user, project
	store.MemoryLimit, store.UserLimit, store.ProjectLimit = a.config.MemoryLimit, a.config.UserLimit, a.config.ProjectLimit
	store.MemoryScan, store.UserScan, store.ProjectScan = memstore.Scanning(a.config.MemoryScan), memstore.Scanning(a.config.UserScan), memstore.Scanning(a.config.ProjectScan)
	if a.opened == nil {
		a.opened = map[[2]string]*memstore.Store{}
	}
	store.Written = func(ctx context.Context, by memstore.Caller, t memstore.Target, r memstore.Result) {
		told, err := a.external.Mirror(ctx, user, by, t, r)
		if told {
			a.mirrored.Store(true)
		}
		if err != nil {
			a.log.Error().Err(err).Str("edit", r.EditID).Msg("the provider is not told of an edit")
		}
	}
	a.opened[key] = store
	return store, nil
}

// A frozen hands out the snapshot of the caller's session: the kept one where
// the session is known, else one for the life of the process.
type frozen struct {
	store *memstore.Store
	who   func(ctx context.Context) caller.Current
	log   zerolog.Logger
	level zerolog.Level // of a snapshot that could not be kept
	mu    sync.Mutex
	own   map[string]memstore.Snapshot // by session, "" where none is known
}

func (f *frozen) snapshot(ctx context.Context) (memstore.Snapshot, error) {
	id := f.who(ctx).ID
	f.mu.Lock()
	defer f.mu.Unlock()
	if snap, ok := f.own[id]; ok {
		return snap, nil
	}
	if id == "" {
		snap, err := f.store.Snapshot(ctx)
		if err == nil {
			f.own[id] = snap
		}
		return snap, err
	}
	snap, err := f.store.SessionSnapshot(ctx, id)
	if err != nil && !snap.FrozenAt.IsZero() {
		// It was taken and could not be kept, on a full disk for example: this
		// process at least tells the session the same all along.
		f.log.WithLevel(f.level).Err(err).Msg("keep the snapshot")
		f.own[id] = snap
		return snap, nil
	}
	return snap, err
}

// before is what an edit of that origin comes after: nothing when a person makes
// it, which does not begin a session.
func (f *frozen) before(origin string) func(ctx context.Context) (memstore.Snapshot, error) {
	if origin == originCLI {
		return nil
	}
	return f.snapshot
}

// A serving is how one server differs from another.
type serving struct {
	readOnly bool
	record   bool   // session_record is offered
	origin   string // of edits, for the journal: tool or cli
	pending  func(ctx context.Context) string
	// who is the session that calls now; nil asks the finder. remote says that
	// callers share no folder with this process.
	who    func(ctx context.Context) caller.Current
	remote bool
	user   string // who is served when it is not the run's own
	// background runs something as long as the server does; nil without one.
	background func(do func(ctx context.Context))
}

// server wires the rooms into one protocol server. The archive is not opened.
func (a *app) server(ctx context.Context, how serving) (*server.MCPServer, error) {
	dir := a.dir()
	if how.remote {
		dir = ""
	}
	if how.user == "" {
		how.user = a.user
	}
	store, err := a.openStoreOf(ctx, how.user, dir)
	if err != nil {
		return nil, err
	}
	archive := a.archiveOf(how.user)
	if how.who == nil {
		finder := a.finder()
		how.who = func(context.Context) caller.Current { return finder.Find() }
	}
	how.who = a.inChat(how.who)
	frozen := &frozen{store: store, who: how.who, log: a.log, level: zerolog.WarnLevel, own: map[string]memstore.Snapshot{}}
	if a.home.Unwritable() != nil {
		frozen.level = zerolog.DebugLevel // that was said
	}
	memory := tools.MemoryOptions{
		Caller: func(ctx context.Context) memstore.Caller {
			name, ver := serve.ClientName(ctx)
			return memstore.Caller{Session: how.who(ctx).ID, Client: strings.TrimSpace(name + " " + ver), Origin: how.origin}
		},
		ReadOnly: how.readOnly,
		Why:      a.whyReadOnly(),
		Person:   how.origin == originCLI,
		Approval: a.config.WriteApproval && how.origin != originCLI, // a person needs nobody's yes
		Enabled:  map[memstore.Target]bool{memstore.Memory: a.config.MemoryEnabled, memstore.User: a.config.UserEnabled},
		Snapshot: frozen.before(how.origin),
	}
	search := sessions.Options{
		Live:    func(ctx context.Context) []string { return how.who(ctx).Live },
		Project: func(ctx context.Context) string { return a.projectRoot(ctx, dir) },
		Limit:   a.config.SearchLimit, DefaultProject: a.config.DefaultProject,
		Redact: a.config.RedactOutput, Pending: how.pending,
		WhenSummarize: a.config.Summarize, Progress: serve.Progress, Sources: sourceNames(),
	}
	if model := a.model(summarizer.SessionSearch); model != nil {
		search.Summarize = model.Focus
	}
	offered := append([]server.ServerTool{tools.Memory(store, memory), sessions.Search(archive, search)}, a.recorder(how, archive)...)
	return serve.New(serve.Parts{
		Name: "hermes-mcp", Version: version(),
		Tools:     a.admitting(a.withExternal(ctx, how, dir, offered)),
		Resources: append(resources.Memory(store, frozen.snapshot), resources.Status(func(ctx context.Context) (any, error) { return a.status(ctx, how.user, how.who(ctx)) })),
		Templates: []server.ServerResourceTemplate{resources.Sessions(archive, a.config.RedactOutput)},
		Prompts:   resources.Prompts(store, frozen.snapshot, archive),
		Admit:     a.admit,
		Complete:  a.proposals(archive),
		Instructions: func(ctx context.Context, client string) string {
			snap, err := frozen.snapshot(ctx)
			if err != nil {
				a.log.Error().Err(err).Msg("snapshot")
			}
			return resources.Instructions(snap, resources.Inject(a.config.Inject), client, a.hooked(client))
		},
		Done: func(tool string, failed bool, seconds float64) {
			a.log.Info().Str("tool", tool).Bool("failed", failed).Float64("seconds", seconds).Msg("call")
		},
		Bug: a.bug,
	}), nil
}

// projectRoot is the folder of the project that dir is in, or "": the tool says
// that there is none.
func (a *app) projectRoot(ctx context.Context, dir string) string {
	p, err := a.project(ctx, dir)
	if err != nil {
		return ""
	}
	return p.Root
}

// whyReadOnly is why edits are refused where that is no wish of whoever started
// the server, or "".
func (a *app) whyReadOnly() string {
	if err := a.home.Unwritable(); err != nil {
		return err.Error()
	}
	return ""
}

// bug notes an error that is this program's own fault.
func (a *app) bug(where string, err error) {
	a.log.Error().Str("where", where).Err(err).Msg("bug")
	if a.logFile == nil { // a command, whose person sees no log
		fmt.Fprintf(a.err, "hermes-mcp: bug in %s: %v\n", where, err)
	}
}

// The origins of edits that this program makes.
const (
	originTool = "tool"
	originCLI  = "cli"
)

// hooked tells whether our SessionStart hook is installed for the client, which
// says who it is in its own words.
func (a *app) hooked(client string) bool {
	if strings.HasPrefix(client, "claude-code") {
		return a.hookFile() != ""
	}
	name, _, _ := strings.Cut(client, "-")
	h, ok := clients.HooksOf(name)
	return ok && clients.Hooked(h.File(a.clientPlace())) != ""
}

// hookFile is the settings file of Claude Code that has our hook, or "".
func (a *app) hookFile() string {
	files := []string{clients.ClaudeCodeSettings(a.clientPlace())}
	if dir := a.dir(); dir != "" {
		files = append(files, filepath.Join(dir, ".claude", "settings.json"), filepath.Join(dir, ".claude", "settings.local.json"))
	}
	for _, file := range files {
		if clients.Hooked(file) != "" {
			return file
		}
	}
	return ""
}
