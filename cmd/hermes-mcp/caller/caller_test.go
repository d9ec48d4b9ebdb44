package caller

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

var t0 = time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)

func report(t *testing.T, folder, id string, edit func(*Report)) {
	t.Helper()
	if err := Change(context.Background(), folder, ClaudeCode, id, edit); err != nil {
		t.Fatal(err)
	}
}

func TestTheCurrentSession(t *testing.T) {
	me := Process{PID: os.Getpid()}
	look, err := processes()
	if err != nil {
		t.Skip(err)
	}
	if r, ok := look(me.PID); ok {
		me = r.Process
	}
	agent, outer, dead := Process{PID: 7, Start: 1}, Process{PID: 6, Start: 1}, Process{PID: 7, Start: 2}
	for _, test := range []struct {
		name    string
		reports func(t *testing.T, folder string)
		asked   string
		env     map[string]string
		id      string
		live    int
	}{
		{name: "the flag beats everything", asked: "hermes:x", env: map[string]string{"HERMES_SESSION_ID": "e"}, id: "hermes:x", live: 1},
		{name: "a bare id is Claude Code's", asked: "x", id: "claude-code:x", live: 1},
		{name: "the hook of our agent beats the environment", env: map[string]string{"CLAUDE_CODE_SESSION_ID": "e"}, id: "claude-code:new", live: 1,
			reports: func(t *testing.T, folder string) {
				report(t, folder, "old", func(r *Report) { r.Agent, r.At = agent, t0 })
				report(t, folder, "new", func(r *Report) { r.Agent, r.At = agent, t0.Add(time.Second) })
			}},
		{name: "an agent within an agent is the nearer one", id: "claude-code:inner", live: 1,
			reports: func(t *testing.T, folder string) {
				report(t, folder, "inner", func(r *Report) { r.Agent, r.At = agent, t0 })
				report(t, folder, "outer", func(r *Report) { r.Agent, r.At = outer, t0.Add(time.Hour) })
			}},
		{name: "a hook of a process that had the number before is not ours", env: map[string]string{"CLAUDE_CODE_SESSION_ID": "e"}, id: "claude-code:e", live: 1,
			reports: func(t *testing.T, folder string) { report(t, folder, "x", func(r *Report) { r.Agent = dead }) }},
		{name: "a session that ended is not current", id: "", live: 0,
			reports: func(t *testing.T, folder string) {
				report(t, folder, "x", func(r *Report) { r.Agent, r.Ended = agent, true })
			}},
		{name: "Hermes' variable comes first", env: map[string]string{"HERMES_SESSION_ID": "h", "CLAUDE_CODE_SESSION_ID": "e"}, id: "hermes:h", live: 1},
		{name: "a live hook in our folder", id: "claude-code:x", live: 1,
			reports: func(t *testing.T, folder string) {
				report(t, folder, "x", func(r *Report) { r.Agent, r.Dir = me, "/work" })
			}},
		{name: "two live hooks in our folder both count", id: "", live: 2,
			reports: func(t *testing.T, folder string) {
				report(t, folder, "x", func(r *Report) { r.Agent, r.Dir = me, "/work" })
				report(t, folder, "y", func(r *Report) { r.Agent, r.Dir = me, "/work" })
			}},
		{name: "a growing transcript is live, but not for certain ours", id: "", live: 1,
			reports: func(t *testing.T, folder string) {
				dir := filepath.Join(folder, "claude", "projects", "-work")
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				for name, age := range map[string]time.Duration{"fresh.jsonl": time.Second, "old.jsonl": time.Hour, "agent-1.jsonl": 0} {
					path := filepath.Join(dir, name)
					if err := os.WriteFile(path, nil, 0o600); err != nil {
						t.Fatal(err)
					}
					if err := os.Chtimes(path, t0, t0.Add(-age)); err != nil {
						t.Fatal(err)
					}
				}
			}},
		{name: "nothing known", id: "", live: 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			if test.reports != nil {
				test.reports(t, folder)
			}
			f := &Finder{
				Sessions: folder, Asked: test.asked, Env: func(name string) string { return test.env[name] }, Dir: "/work",
				ClaudeDir: filepath.Join(folder, "claude"), Ancestors: []Process{agent, outer}, Now: func() time.Time { return t0 },
			}
			got := f.Find()
			if got.ID != test.id || len(got.Live) != test.live {
				t.Errorf("got %+v, want %q and %d live", got, test.id, test.live)
			}
		})
	}
}

func TestASessionIDCannotNameAnotherFolder(t *testing.T) {
	for _, id := range []string{"../x", "a/b", "", ".", `a\b`, "x\x00"} {
		if err := Change(context.Background(), t.TempDir(), ClaudeCode, id, func(*Report) {}); !errors.Is(err, ErrUnsafeID) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestOurAncestorsBeginWithOurParent(t *testing.T) {
	if _, err := processes(); err != nil {
		t.Skip(err)
	}
	chain := Ancestors(os.Getpid())
	if parent := os.Getppid(); parent > 1 && (len(chain) == 0 || chain[0].PID != parent) {
		t.Errorf("ancestors %v, parent %d", chain, parent)
	}
	if len(chain) > 0 && !alive(chain[0]) {
		t.Error("our parent does not live")
	}
	if alive(Process{PID: os.Getpid(), Start: 1}) {
		t.Error("a process with another start counts as alive")
	}
}

func TestEveryWayToCloneGivesOneOrigin(t *testing.T) {
	for _, test := range []struct{ url, want string }{
		{"https://github.com/a/b.git", "github.com/a/b"},
		{"https://user:secret@GitHub.com:443/a/b", "github.com/a/b"},
		{"git@github.com:a/b.git", "github.com/a/b"},
		{"ssh://git@github.com:22/a/b.git/", "github.com/a/b"},
		{"git://github.com/a/b", "github.com/a/b"},
		{"/srv/git/b.git", ""},
		{"../b", ""},
		{`C:\git\b`, ""},
		{"file:///srv/b", ""},
		{"", ""},
	} {
		if got := canonicalURL(test.url); got != test.want {
			t.Errorf("%q gives %q, want %q", test.url, got, test.want)
		}
	}
}

// git makes real repositories; the program under test needs none.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here to make a repository with")
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func project(t *testing.T, dir string) Project {
	t.Helper()
	p, err := ProjectOf(dir, "/home/nobody", "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWorktreesSubfoldersAndClonesAreOneProject(t *testing.T) {
	base := t.TempDir()
	repo, tree, clone := filepath.Join(base, "repo"), filepath.Join(base, "tree"), filepath.Join(base, "clone")
	if err := os.MkdirAll(filepath.Join(repo, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if p := project(t, filepath.Join(repo, "sub")); p.Kind != "path" || filepath.Base(p.Root) != "sub" {
		t.Errorf("no repository: %+v", p)
	}
	git(t, repo, "init", "-q")
	if p := project(t, filepath.Join(repo, "sub")); p.Kind != "path" || filepath.Base(p.Root) != "repo" {
		t.Errorf("no commit: %+v", p)
	}
	git(t, repo, "commit", "-q", "--allow-empty", "-m", "one")
	git(t, repo, "commit", "-q", "--allow-empty", "-m", "two")
	want := project(t, repo)
	if want.Kind != "commit" {
		t.Fatalf("with commits: %+v", want)
	}
	git(t, repo, "worktree", "add", "-q", tree)
	git(t, base, "clone", "-q", repo, clone)
	for _, dir := range []string{tree, clone, filepath.Join(repo, "sub")} {
		if p := project(t, dir); p.Key != want.Key {
			t.Errorf("%s: %+v, want key %s", dir, p, want.Key)
		}
	}
	git(t, repo, "gc", "-q")
	if p := project(t, repo); p.Key != want.Key {
		t.Errorf("packed: %+v", p)
	}
	git(t, repo, "remote", "add", "origin", "git@example.com:a/b.git")
	if p := project(t, tree); p.Kind != "origin" || p.From != "example.com/a/b" {
		t.Errorf("with an origin: %+v", p)
	}
}

func TestHomeAndRootAreNoProject(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{home, filepath.VolumeName(home) + string(filepath.Separator)} {
		if _, err := ProjectOf(dir, home, ""); !errors.Is(err, ErrNoProject) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

func TestAProjectKeepsItsEarlierNames(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "projects.json")
	remember := func(p Project) Project {
		t.Helper()
		p, err := Remember(ctx, path, p)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	remember(Project{Key: "c", Root: "/a", Kind: "commit", From: "1"})
	if p := remember(Project{Key: "p", Root: "/a", Kind: "path", From: "/a"}); p.Key != "c" {
		t.Errorf("a folder lost its better key: %+v", p)
	}
	if p := remember(Project{Key: "o", Root: "/a", Kind: "origin", From: "h/a"}); p.Key != "o" || len(p.Also) != 1 || p.Also[0] != "c" {
		t.Errorf("an origin was added: %+v", p)
	}
	if p := remember(Project{Key: "o", Root: "/b", Kind: "origin", From: "h/a"}); len(p.Also) != 2 {
		t.Errorf("it moved: %+v", p)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	remember(Project{Key: "o", Root: "/a", Kind: "origin", From: "h/a"})
	remember(Project{Key: "o", Root: "/b", Kind: "origin", From: "h/a"})
	after, err := os.Stat(path)
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("written although nothing is new: %v", err)
	}
}
