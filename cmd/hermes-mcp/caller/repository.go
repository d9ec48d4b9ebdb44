package caller

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// A repository is a git repository as far as its identity goes. It is read from
// its files: the git program may be missing, and hooks have no time for it.
type repository struct {
	root string // of the main working tree, also from within a linked one
	git  string // the common git folder
}

// findRepository climbs from dir to the folder that holds .git.
func findRepository(dir string) (repository, bool) {
	for {
		dotgit := filepath.Join(dir, ".git")
		info, err := os.Stat(dotgit)
		if err == nil && info.IsDir() {
			return repository{root: dir, git: dotgit}, true
		}
		if err == nil {
			return linked(dir, dotgit)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return repository{}, false
		}
		dir = parent
	}
}

// linked follows the .git file of a linked worktree or a submodule.
func linked(dir, dotgit string) (repository, bool) {
	raw, err := os.ReadFile(dotgit)
	if err != nil {
		return repository{}, false
	}
	target, ok := strings.CutPrefix(strings.TrimSpace(string(raw)), "gitdir:")
	if !ok {
		return repository{}, false
	}
	git := under(dir, strings.TrimSpace(target))
	common, err := os.ReadFile(filepath.Join(git, "commondir"))
	if err != nil {
		return repository{root: dir, git: git}, true // a submodule is its own repository
	}
	git = under(git, strings.TrimSpace(string(common)))
	if filepath.Base(git) == ".git" {
		dir = filepath.Dir(git)
	} else {
		dir = git // a bare repository has no main working tree
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return repository{root: dir, git: git}, true
}

func under(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// origin returns the canonical URL of the remote origin, or "".
func (r repository) origin() string {
	raw, err := os.ReadFile(filepath.Join(r.git, "config"))
	if err != nil {
		return ""
	}
	inside := false
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			inside = strings.ReplaceAll(line, " ", "") == `[remote"origin"]`
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if inside && ok && strings.EqualFold(strings.TrimSpace(name), "url") {
			return canonicalURL(strings.Trim(strings.TrimSpace(value), `"`))
		}
	}
	return ""
}

// scpLike is git's short form user@host:path.
var scpLike = regexp.MustCompile(`^(?:[^@/\s]+@)?([A-Za-z0-9_.-]{2,}):([^\\].*)$`)

// canonicalURL is host/path in lower case host, without user, port, scheme and
// .git, so that every way to clone gives the same. A local path is none.
func canonicalURL(raw string) string {
	host, path := "", ""
	if u, err := url.Parse(raw); err == nil && u.Host != "" {
		host, path = u.Hostname(), u.Path
	} else if m := scpLike.FindStringSubmatch(raw); m != nil && !strings.Contains(raw, "://") {
		host, path = m[1], m[2]
	}
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	if host == "" || path == "" {
		return ""
	}
	return strings.ToLower(host) + "/" + path
}

// furthest bounds the walk to the root commit.
const furthest = 5_000

// rootCommit returns the id of the first commit, or "" where it can be read
// neither from loose objects nor from the log of HEAD: packed objects would
// need a git of our own. projects.json bridges the day a repository is packed.
func (r repository) rootCommit() string {
	id := r.head()
	for range furthest {
		parent, ok := r.firstParent(id)
		if !ok {
			return r.firstLogged()
		}
		if parent == "" {
			return id
		}
		id = parent
	}
	return ""
}

// firstLogged returns the commit that the log of HEAD calls the initial one.
func (r repository) firstLogged() string {
	f, err := os.Open(filepath.Join(r.git, "logs", "HEAD"))
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // only read
	line, err := bufio.NewReader(io.LimitReader(f, 4<<10)).ReadString('\n')
	if err != nil {
		return ""
	}
	before, what, ok := strings.Cut(line, "\t")
	ids := strings.Fields(before)
	if !ok || len(ids) < 2 || !objectID.MatchString(ids[1]) || !strings.HasPrefix(what, "commit (initial)") {
		return ""
	}
	return ids[1]
}

var objectID = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

func (r repository) head() string {
	raw, err := os.ReadFile(filepath.Join(r.git, "HEAD"))
	if err != nil {
		return ""
	}
	ref, symbolic := strings.CutPrefix(strings.TrimSpace(string(raw)), "ref: ")
	if !symbolic {
		return ref
	}
	if raw, err = os.ReadFile(filepath.Join(r.git, filepath.FromSlash(ref))); err == nil {
		return strings.TrimSpace(string(raw))
	}
	packed, err := os.ReadFile(filepath.Join(r.git, "packed-refs"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(packed)) {
		if id, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref {
			return id
		}
	}
	return ""
}

// firstParent returns the first parent of a commit, "" for a root commit, and
// false where the commit cannot be read.
func (r repository) firstParent(id string) (string, bool) {
	if !objectID.MatchString(id) {
		return "", false
	}
	f, err := os.Open(filepath.Join(r.git, "objects", id[:2], id[2:]))
	if err != nil {
		return "", false
	}
	defer f.Close() //nolint:errcheck // only read
	z, err := zlib.NewReader(f)
	if err != nil {
		return "", false
	}
	raw, err := io.ReadAll(io.LimitReader(z, 64<<10))
	if err != nil || !bytes.HasPrefix(raw, []byte("commit ")) {
		return "", false
	}
	_, body, _ := bytes.Cut(raw, []byte{0})
	for line := range bytes.Lines(body) {
		line = bytes.TrimSpace(line)
		if parent, ok := bytes.CutPrefix(line, []byte("parent ")); ok {
			return string(parent), true
		}
		if len(line) == 0 {
			break // the message begins: no parent
		}
	}
	return "", true
}
