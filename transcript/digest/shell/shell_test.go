package shell

import (
	"slices"
	"strings"
	"testing"
)

func TestLexKnowsTheShell(t *testing.T) {
	for line, want := range map[string][]string{
		`a 'b c' "d\"e" f\ g`:             {"a|b c|d\"e|f g"},
		`a && b || c; d | e & f`:          {"a", "b", "c", "d", "e", "f"},
		"a # comment\nb":                  {"a", "b"},
		"cat <<EOF > x\nrm y\nEOF\nls":    {"cat", "ls"},
		`git commit -m "$(cat <<'E'\nE)"`: {"git|commit|-m|$(cat <<'E'nE)"},
		`x > out 2>&1`:                    {"x"},
		`"unclosed`:                       {"unclosed"},
	} {
		var got []string
		for _, s := range lex(line) {
			got = append(got, strings.Join(s.words, "|"))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", line, got, want)
		}
	}
	for line, want := range map[string]string{
		"cd x && FOO=1 go test ./...": "go test", "sudo docker compose up": "docker compose", "./run.sh": "run.sh",
		"python -m pytest -q": "python -m pytest", "npm run build": "npm run build",
	} {
		if got := Program(line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func FuzzFiles(f *testing.F) {
	f.Add("cat > a <<'E'\nx\nE\nrm b; sed -i s/a/b/ c &>d 2>&1 <<<e")
	f.Add("\\")
	f.Fuzz(func(t *testing.T, line string) {
		for _, x := range Files(line) {
			if x.Path == "" || strings.ContainsAny(x.Path, "$*\n") {
				t.Fatalf("%q names the file %q", line, x.Path)
			}
		}
		Program(line)
	})
}
