package entity

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestExtract(t *testing.T) {
	for text, want := range map[string][]string{
		`Mara Keller runs the "billing" service in Go`:              {"Mara Keller", "billing"},
		`Releases go out on Tuesdays`:                               nil,
		`User Memory is full. Default Setting applies`:              nil,
		`No Entry signs stay. Soon came Ada Byron`:                  {"Ada Byron"},
		`Jan van Eyck aka JVE painted it`:                           {"Jan van Eyck", "JVE"},
		`kube-proxy also known as kp2 restarts`:                     {"kube-proxy", "kp2"},
		`it's the dog's bone and don't "move 'it' now"`:             {"move 'it' now"},
		`'a' and 'B' and "7"`:                                       {"B"},
		`她在「北极星」项目里用《红皮书》和“银杏”`:                                     {"北极星", "红皮书", "银杏"},
		`"half open and nothing`:                                    nil,
		`"Data-Lake" and "data lake" are one`:                       {"Data-Lake"},
		`"Ｆｕｌｌ Width" (see "Ada Byron's")`:                          {"Full Width", "Ada Byron"},
		`"` + strings.Repeat("x", 81) + `" and "a b c d e f g h i"`: nil,
		"line one \"broken\nover\" two":                             nil,
	} {
		if got := Extract(text); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func FuzzExtract(f *testing.F) {
	f.Add(`Mara Keller aka MK runs "billing"`)
	f.Add("「北极星」 \xff\"\xff\"")
	f.Fuzz(func(t *testing.T, text string) {
		seen := map[string]bool{}
		for _, name := range Extract(text) {
			if name == "" || utf8.RuneCountInString(name) > 80 || seen[Key(name)] {
				t.Fatalf("%q in %q", name, text)
			}
			seen[Key(name)] = true
		}
	})
}
