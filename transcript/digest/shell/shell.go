// Package shell reads command lines as far as their words show what they do:
// which program they run, and which files they read or change.
//
// It is no shell: nothing is expanded, and a word that holds a variable or a
// pattern names no file. All functions are pure.
package shell

import (
	"path"
	"regexp"
	"strings"
)

// What is done to a file.
const (
	Read   = "read"
	Edit   = "edit"
	Write  = "write"
	Delete = "delete"
)

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// program returns a simple command without assignments and wrappers.
func (s simple) program() []string {
	w := s.words
	for len(w) > 0 {
		switch {
		case assignment.MatchString(w[0]), w[0] == "sudo", w[0] == "env", w[0] == "time", w[0] == "nohup", w[0] == "then", w[0] == "do", w[0] == "!", w[0] == "{", w[0] == "if":
			w = w[1:]
		case w[0] == "timeout" && len(w) > 1:
			w = w[2:]
		default:
			return w
		}
	}
	return nil
}

// withVerb are programs whose first argument says what they do.
var withVerb = map[string]bool{"git": true, "go": true, "npm": true, "npx": true, "pnpm": true, "yarn": true, "bun": true, "cargo": true,
	"make": true, "docker": true, "kubectl": true, "pip": true, "uv": true, "mise": true, "gh": true, "python": true, "python3": true,
	"node": true, "terraform": true, "bazel": true, "poetry": true, "deno": true, "task": true, "just": true}

// looks are programs that only look.
var looks = map[string]bool{"git status": true, "git log": true, "git diff": true, "git show": true, "git branch": true, "git blame": true,
	"gh pr": true, "gh api": true, "docker ps": true, "docker logs": true, "kubectl get": true, "kubectl describe": true, "kubectl logs": true}

// Program returns what kind of thing a command line does: "go test".
func Program(line string) string {
	for _, s := range lex(line) {
		w := s.program()
		if len(w) == 0 || w[0] == "cd" || w[0] == "export" || w[0] == "source" || w[0] == "set" {
			continue
		}
		name := path.Base(w[0])
		if withVerb[name] {
			for _, a := range w[1:] {
				if a == "-m" || a == "run" || !strings.HasPrefix(a, "-") && !strings.Contains(a, "/.") {
					name += " " + a
					if a != "-m" && a != "run" && a != "exec" {
						break
					}
				}
			}
		}
		return name
	}
	return ""
}

// plainPath tells whether a word of a command line is a file's name as it is.
func plainPath(w string) bool {
	return w != "" && w != "-" && !strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "/dev/") && !strings.HasPrefix(w, "&") &&
		!strings.ContainsAny(w, "$`*?{}[]<>|\n\"'=!") && !strings.HasSuffix(w, "/") && w != "." && w != ".."
}

// Files returns the files that a command line reads or changes, as far as
// its words show.
func Files(line string) []FileAction {
	var out []FileAction
	dir := ""
	add := func(p, action string) {
		if !plainPath(p) {
			return
		}
		if dir != "" && !path.IsAbs(p) && !strings.HasPrefix(p, "~") {
			p = path.Join(dir, p)
		}
		out = append(out, FileAction{p, action})
	}
	for _, s := range lex(line) {
		for _, o := range s.outputs {
			add(o.Path, o.Action)
		}
		w := s.program()
		if len(w) < 2 {
			continue
		}
		switch path.Base(w[0]) {
		case "cd":
			if plainPath(w[1]) && path.IsAbs(w[1]) {
				dir = w[1]
			} else {
				dir = path.Join(dir, w[1])
			}
		case "git":
			switch w[1] {
			case "rm", "mv":
				for _, f := range fileCommand(w[1:]) {
					add(f.Path, f.Action)
				}
			}
		default:
			for _, f := range fileCommand(w) {
				add(f.Path, f.Action)
			}
		}
	}
	return out
}

// fileCommand returns what the programs that handle files do to which.
func fileCommand(w []string) []FileAction {
	flags, names := "", []string(nil)
	skip := false
	for _, a := range w[1:] {
		switch {
		case skip:
			skip = false
		case strings.HasPrefix(a, "-") && len(a) > 1:
			flags += strings.TrimLeft(a, "-")
			skip = (w[0] == "head" || w[0] == "tail") && (a == "-n" || a == "-c") || w[0] == "sed" && a == "-e"
		default:
			names = append(names, a)
		}
	}
	all := func(action string) (out []FileAction) {
		for _, n := range names {
			out = append(out, FileAction{n, action})
		}
		return out
	}
	switch path.Base(w[0]) {
	case "cat", "head", "tail", "nl", "less", "bat":
		return all(Read)
	case "sed":
		if len(names) < 2 && !strings.Contains(flags, "e") {
			return nil
		}
		if !strings.Contains(flags, "e") {
			names = names[1:]
		}
		if strings.Contains(flags, "i") {
			return all(Edit)
		}
		return all(Read)
	case "rm":
		if strings.ContainsAny(flags, "rR") {
			return nil
		}
		return all(Delete)
	case "touch", "tee":
		if strings.Contains(flags, "a") {
			return all(Edit)
		}
		return all(Write)
	case "mv":
		if len(names) == 2 && !strings.HasSuffix(names[1], "/") && names[1] != "." {
			return []FileAction{{names[0], Delete}, {names[1], Write}}
		}
	case "cp":
		if len(names) == 2 && !strings.ContainsAny(flags, "rR") && !strings.HasSuffix(names[1], "/") && names[1] != "." {
			return []FileAction{{names[1], Write}}
		}
	}
	return nil
}

// looking are arguments of which a program only looks, whatever program it is.
var looking = map[string]bool{"list": true, "ls": true, "status": true, "statuses": true, "show": true, "get": true, "info": true,
	"help": true, "--help": true, "-h": true, "--version": true, "version": true, "describe": true, "logs": true}

// Looks tells whether all that a command line runs only looks.
func Looks(line string) bool {
	for _, s := range lex(line) {
		w := s.program()
		switch {
		case len(w) == 0 || w[0] == "cd":
		case len(s.outputs) > 0:
			return false
		case len(w) > 1 && looks[path.Base(w[0])+" "+w[1]], len(w) > 1 && (looking[w[1]] || looking[w[len(w)-1]]), viewers[path.Base(w[0])]:
		default:
			return false
		}
	}
	return true
}

// viewers are programs that change nothing.
var viewers = map[string]bool{"cat": true, "ls": true, "grep": true, "rg": true, "find": true, "head": true, "tail": true, "wc": true, "echo": true,
	"pwd": true, "which": true, "nl": true, "tree": true, "jq": true, "stat": true, "file": true, "less": true, "printf": true, "sort": true, "test": true}
