package caller

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
)

// A Project is what a session works on, wherever its folder lies.
type Project struct {
	Key  string   `json:"key"`            // hex, 16 digits; the same for every clone and worktree
	Root string   `json:"root"`           // the folder of the main repository, or the folder itself
	Kind string   `json:"kind"`           // what the key is made of: origin, commit or path
	From string   `json:"from"`           // that thing itself
	Also []string `json:"also,omitempty"` // earlier roots and keys
}

// ErrNoProject is returned for folders that are nobody's project.
var ErrNoProject = errors.New("no project")

// ProjectOf returns the project that dir belongs to. A key made of the root
// commit is looked up in file, a projects.json that may be missing, before
// commits are walked. The user's home folder and a file system's root are none:
// everything would be one project. Errors: ErrNoProject.
func ProjectOf(dir, userHome, file string) (Project, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return Project{}, fmt.Errorf("project of %s: %w", dir, err)
	}
	repo, found := findRepository(real)
	p := Project{Root: real, Kind: "path", From: real}
	if found {
		p.Root, p.From = repo.root, repo.root
		if url := repo.origin(); url != "" {
			p.Kind, p.From = "origin", url
		} else if known, ok := byRoot(file, repo.root); ok && known.Kind == "commit" {
			p.Kind, p.From = known.Kind, known.From
		} else if commit := repo.rootCommit(); commit != "" {
			p.Kind, p.From = "commit", commit
		}
	}
	if home, err := filepath.EvalSymlinks(userHome); err == nil && p.Root == home {
		return Project{}, fmt.Errorf("%s is the home folder: %w", dir, ErrNoProject)
	}
	if filepath.Dir(p.Root) == p.Root {
		return Project{}, fmt.Errorf("%s is the root: %w", dir, ErrNoProject)
	}
	sum := sha256.Sum256([]byte(p.Kind + " " + p.From))
	p.Key = hex.EncodeToString(sum[:8])
	return p, nil
}

// byRoot finds a known project by its folder. A file that cannot be read knows
// none; Remember says what is wrong with it.
func byRoot(file, root string) (Project, bool) {
	known, err := readProjects(file)
	if err != nil {
		return Project{}, false
	}
	for _, p := range known {
		if p.Root == root {
			return p, true
		}
	}
	return Project{}, false
}

// Remember keeps p in the file projects.json and returns it as it is known
// there: a project whose folder was seen with a better key keeps that one, and
// one that moved, or got an origin, keeps its earlier roots and keys beside. It
// writes only when something is new.
func Remember(ctx context.Context, path string, p Project) (Project, error) {
	known, err := readProjects(path)
	if err != nil {
		return p, err
	}
	if same, news := merge(known, p); !news {
		return same, nil
	}
	lock := flock.New(path + ".lock")
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if _, err := lock.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return p, fmt.Errorf("projects: lock: %w", err)
	}
	defer lock.Unlock() //nolint:errcheck // closing the file at exit does the same
	if known, err = readProjects(path); err != nil {
		return p, err
	}
	p, _ = merge(known, p)
	raw, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return p, fmt.Errorf("projects: %w", err)
	}
	temp := path + ".new" // one writer at a time: the lock is held
	if err := os.WriteFile(temp, append(raw, '\n'), 0o600); err != nil {
		return p, fmt.Errorf("projects: %w", err)
	}
	if err := os.Rename(temp, path); err != nil {
		return p, fmt.Errorf("projects: %w", err)
	}
	return p, nil
}

// merge puts p into known and tells whether that changed anything.
func merge(known map[string]Project, p Project) (Project, bool) {
	for key, old := range known {
		if old.Root != p.Root || key == p.Key {
			continue
		}
		if p.Kind == "path" {
			return old, false // the repository was packed, or its origin taken away
		}
		delete(known, key)
		p.Also = appendNew(appendNew(p.Also, old.Key), old.Also...)
	}
	if old, ok := known[p.Key]; ok {
		if slices.Contains(old.Also, p.Root) {
			return p, false // another clone, seen before
		}
		if old.Root == p.Root {
			p.Also = appendNew(slices.Clone(old.Also), p.Also...)
		} else {
			p.Also = appendNew(appendNew(p.Also, old.Root), old.Also...)
		}
		p.Also = slices.DeleteFunc(p.Also, func(s string) bool { return s == p.Root })
		if old.Root == p.Root && slices.Equal(old.Also, p.Also) {
			return old, false
		}
	}
	known[p.Key] = p
	return p, true
}

func appendNew(have []string, more ...string) []string {
	for _, s := range more {
		if !slices.Contains(have, s) {
			have = append(have, s)
		}
	}
	return have
}

func readProjects(path string) (map[string]Project, error) {
	known := map[string]Project{}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, fmt.Errorf("projects: %w", err)
	}
	if err := json.Unmarshal(raw, &known); err != nil {
		return nil, fmt.Errorf("projects: %s is not JSON (%w); remove it and it is made anew", path, err)
	}
	return known, nil
}
