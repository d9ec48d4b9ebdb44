package main

import (
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// proposed finds the command lines that a text proposes.
var proposed = regexp.MustCompile(`\bhermes-mcp (archive|call|doctor|ingest|install|memory|provider|review|search|serve|sessions|show|status|uninstall)\b`)

// pasteable is a text of ours whose command lines work as they stand for whoever
// gave this run a home, a profile or a user: they are told the same.
func (a *app) pasteable(text string) string {
	var flags strings.Builder
	for _, f := range []struct{ name, value string }{{"home", a.homeFlag}, {"profile", a.profileFlag}, {"user", a.userFlag}} {
		if f.value == "" {
			continue
		}
		if abs, err := filepath.Abs(f.value); f.name == "home" && err == nil && !strings.HasPrefix(f.value, "~") {
			f.value = abs // also from another folder
		}
		flags.WriteString(" --" + f.name + " " + shellWord(f.value, runtime.GOOS))
	}
	if flags.Len() == 0 {
		return text
	}
	return proposed.ReplaceAllStringFunc(text, func(line string) string {
		program, rest, _ := strings.Cut(line, " ")
		return program + flags.String() + " " + rest
	})
}

var plainWord = regexp.MustCompile(`^[\pL\pN_@%+=:,./-]+$`)

// shellWord writes a word so that a shell reads it as one: in quotes where it has
// to be. That of Windows takes double ones, and no name of a file holds one there.
func shellWord(word, goos string) string {
	switch {
	case plainWord.MatchString(word), goos == "windows" && plainWord.MatchString(strings.ReplaceAll(word, `\`, "/")):
		return word
	case goos == "windows":
		return `"` + word + `"`
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
