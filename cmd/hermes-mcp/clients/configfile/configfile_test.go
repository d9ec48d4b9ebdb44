package configfile

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

var entry = Entry{{Key: "command", Value: "/opt/x"}, {Key: "args", Value: []string{"serve", "it's \"so\""}}}

func TestAnEntryLeavesEverythingElseAsItWas(t *testing.T) {
	for _, test := range []struct {
		name   string
		format Format
		before string
		after  string
	}{
		{"JSON: a file that is not there", JSON, "", "{\n  \"servers\": {\n    \"x\": {\n      \"command\": \"/opt/x\",\n      \"args\": [\n        \"serve\",\n        \"it's \\\"so\\\"\"\n      ]\n    }\n  }\n}\n"},
		{"JSON: tabs stay tabs", JSON, "{\n\t\"a\": 1\n}\n", "{\n\t\"a\": 1,\n\t\"servers\": {\n\t\t\"x\": {\n\t\t\t\"command\": \"/opt/x\",\n\t\t\t\"args\": [\n\t\t\t\t\"serve\",\n\t\t\t\t\"it's \\\"so\\\"\"\n\t\t\t]\n\t\t}\n\t}\n}\n"},
		{"JSON: one line stays one line", JSON, `{"a": 1}`, `{"a": 1, "servers": {"x":{"command":"/opt/x","args":["serve","it's \"so\""]}}}`},
		{"JSON: a comment stays behind its value", JSON, "{\n  \"servers\": {\n    \"y\": {} // y's\n  },\n  \"b\": [1,   2]\n}\n", "{\n  \"servers\": {\n    \"y\": {}, // y's\n    \"x\": {\n      \"command\": \"/opt/x\",\n      \"args\": [\n        \"serve\",\n        \"it's \\\"so\\\"\"\n      ]\n    }\n  },\n  \"b\": [1,   2]\n}\n"},

		{"TOML: a file that is not there", TOML, "", "[servers.x]\ncommand = \"/opt/x\"\nargs = [\"serve\", \"it's \\\"so\\\"\"]\n"},
		{"TOML: a table that looks like ours inside a string", TOML, "s = '''\n[servers.x]\n'''\n# end\n", "s = '''\n[servers.x]\n'''\n# end\n\n[servers.x]\ncommand = \"/opt/x\"\nargs = [\"serve\", \"it's \\\"so\\\"\"]\n"},
		{"TOML: line ends of Windows", TOML, "a = 1\r\n", "a = 1\r\n\r\n[servers.x]\r\ncommand = \"/opt/x\"\r\nargs = [\"serve\", \"it's \\\"so\\\"\"]\r\n"},
		{"TOML: a header of its own above", TOML, "[servers]\n", "[servers]\n\n[servers.x]\ncommand = \"/opt/x\"\nargs = [\"serve\", \"it's \\\"so\\\"\"]\n"},

		{"TOML: servers in one line", TOML, "a = 1\nservers = { y = { command = \"z}\" } } # all\nb = 2\n", "a = 1\nservers = { y = { command = \"z}\" }, x = { command = \"/opt/x\", args = [\"serve\", \"it's \\\"so\\\"\"] } } # all\nb = 2\n"},
		{"TOML: a table with one of them in one line", TOML, "[servers]\ny = {}\n\n[z]\n", "[servers]\ny = {}\n\n[z]\n\n[servers.x]\ncommand = \"/opt/x\"\nargs = [\"serve\", \"it's \\\"so\\\"\"]\n"},

		{"YAML: servers in one line", YAML, "ä: 1\nservers: {y: {command: 'z}, '}} # all\nlast: 1\n", "ä: 1\nservers: {y: {command: 'z}, '}, x: {command: \"/opt/x\", args: [\"serve\", \"it's \\\"so\\\"\"]}} # all\nlast: 1\n"},
		{"YAML: servers over several lines", YAML, "servers: {\n  y: {command: z}, # theirs\n  w: {url: \"http://a\"},\n}\n", "servers: {\n  y: {command: z}, # theirs\n  w: {url: \"http://a\"}, x: {command: \"/opt/x\", args: [\"serve\", \"it's \\\"so\\\"\"]},\n}\n"},
		{"YAML: all between braces", YAML, "{a: 1, b: [2, 3]}\n", "{a: 1, b: [2, 3], servers: {x: {command: \"/opt/x\", args: [\"serve\", \"it's \\\"so\\\"\"]}}}\n"},
		{"YAML: a file that is not there", YAML, "", "servers:\n  x:\n    command: \"/opt/x\"\n    args: [\"serve\", \"it's \\\"so\\\"\"]\n"},
		{"YAML: only comments", YAML, "# nothing\n", "# nothing\nservers:\n  x:\n    command: \"/opt/x\"\n    args: [\"serve\", \"it's \\\"so\\\"\"]\n"},
		{"YAML: four spaces stay four", YAML, "a:\n    b: 1\n", "a:\n    b: 1\nservers:\n    x:\n        command: \"/opt/x\"\n        args: [\"serve\", \"it's \\\"so\\\"\"]\n"},
		{"YAML: beside another, whose text holds anything", YAML, "servers: # all\n  y:\n    text: |\n      servers:\n        x: 1\n\n  # z's\n  z: {a: 1}\nlast: 1\n", "servers: # all\n  x:\n    command: \"/opt/x\"\n    args: [\"serve\", \"it's \\\"so\\\"\"]\n  y:\n    text: |\n      servers:\n        x: 1\n\n  # z's\n  z: {a: 1}\nlast: 1\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := parsed(t, test.format, test.before)
			if err := d.Set(entry, "servers", "x"); err != nil {
				t.Fatal(err)
			}
			if got := string(d.Text()); got != test.after {
				t.Fatalf("got\n%s\nwant\n%s", got, test.after)
			}
			if err := d.Set(entry, "servers", "x"); err != nil || string(d.Text()) != test.after {
				t.Errorf("again: %v\n%s", err, d.Text())
			}
			if there, err := d.Drop("servers", "x"); err != nil || !there {
				t.Fatal(there, err)
			}
			if got := string(d.Text()); got != test.before && test.before != "" {
				t.Errorf("after removal\n%s\nwant\n%s", got, test.before)
			}
			if there, err := d.Drop("servers", "x"); err != nil || there {
				t.Errorf("removed twice: %v, %v", there, err)
			}
		})
	}
}

func TestANotationThatIsNotEditedIsRefused(t *testing.T) {
	for _, test := range []struct {
		name   string
		format Format
		text   string
	}{
		{"JSON: servers is a number", JSON, `{"servers": 3}`},
		{"TOML: servers is a number", TOML, "servers = 3\n"},
		{"TOML: dotted keys", TOML, "servers.x.command = \"z\"\n"},
		{"YAML: servers is a number", YAML, "servers: 3\n"},
		{"YAML: ours is a text between braces", YAML, "servers: {x: z}\n"},
		{"YAML: servers from elsewhere", YAML, "a: &a\n  y: {}\nservers: *a\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := parsed(t, test.format, test.text)
			if err := d.Set(entry, "servers", "x"); !errors.Is(err, ErrShape) {
				t.Errorf("error %v, want %v\n%s", err, ErrShape, d.Text())
			}
			if got := string(d.Text()); got != test.text {
				t.Errorf("text became\n%s", got)
			}
		})
	}
}

func TestOursInOneLineIsChangedThere(t *testing.T) {
	for _, test := range []struct {
		name          string
		format        Format
		before, after string
		dropped       string
	}{
		{"TOML", TOML, "[servers]\nx = { command = \"z\", env = { A = \"b\" } } # ours\ny = {}\n", "[servers]\nx = { command = \"/opt/x\", env = { A = \"b\" }, args = [\"serve\", \"it's \\\"so\\\"\"] } # ours\ny = {}\n", "[servers]\ny = {}\n"},
		{"TOML, all in one line", TOML, "servers = { x = { command = \"z\" } }\n", "servers = { x = { command = \"/opt/x\", args = [\"serve\", \"it's \\\"so\\\"\"] } }\n", ""},
		{"TOML, the first of two", TOML, "servers = { x = { }, y = { } }\n", "servers = { x = { command = \"/opt/x\", args = [\"serve\", \"it's \\\"so\\\"\"] }, y = { } }\n", "servers = { y = { } }\n"},
		{"YAML", YAML, "servers:\n  x: {command: z, env: {A: b}} # ours\n  y: {}\n", "servers:\n  x: {command: \"/opt/x\", env: {A: b}, args: [\"serve\", \"it's \\\"so\\\"\"]} # ours\n  y: {}\n", "servers:\n  y: {}\n"},
		{"YAML, all in one line", YAML, "a: 1\nservers: {x: {command: z}}\n", "a: 1\nservers: {x: {command: \"/opt/x\", args: [\"serve\", \"it's \\\"so\\\"\"]}}\n", "a: 1\n"},
		{"YAML, keys as JSON", YAML, "{\"servers\": {\"x\":{\"command\":\"z\"},\"y\":{}}}\n", "{\"servers\": {\"x\":{\"command\":\"/opt/x\", args: [\"serve\", \"it's \\\"so\\\"\"]},\"y\":{}}}\n", "{\"servers\": {\"y\":{}}}\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := parsed(t, test.format, test.before)
			for range 2 {
				if err := d.Set(entry, "servers", "x"); err != nil || string(d.Text()) != test.after {
					t.Fatalf("%v\n%s", err, d.Text())
				}
			}
			if there, err := d.Drop("servers", "x"); err != nil || !there || string(d.Text()) != test.dropped {
				t.Errorf("%v, %v\n%q", there, err, d.Text())
			}
		})
	}
}

func TestTwoYAMLDocumentsAreRefused(t *testing.T) {
	if _, err := YAML([]byte("a: 1\n---\nb: 2\n")); !errors.Is(err, ErrShape) {
		t.Errorf("error %v, want %v", err, ErrShape)
	}
}

// FuzzSetThenDrop holds every format to the same: after Set the entry is there
// and all else as before, and after Drop the content is what it was.
func FuzzSetThenDrop(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":1}`, "{\n  \"a\": 1 // c\n}\n", "{\n  \"a\": 1,\n}\n", "{ /* x */ }", "{\r\n\t\"a\": [\r\n\t]\r\n}\r\n",
		"{\n  \"hooks\": {\"SessionStart\": [{}]}\n}", "{\"a\":1, // x\n}", "{\"a\":1 // x\n}", "// top\n{\"a\": {\"b\": 2}}\n// end",
		"a = 1\n[b]\nc = '''\n[x]\n'''\n", "[[a]]\nb = {c = 1}\n# d", "a.b.c = 1\n", "[servers.y]\nk=[1,\n2]\n",
		"a: 1\n", "a:\n- b\n- c\n", "servers:\n  y: |\n    z\n", "k1: {a: 'b}'}\nk3: 1\n", "{k1: {}, \"a\": [{}]}", "k1 = { a = \"}\" }\n", "{#\"://##\n}", "--- # x\na: {b: 1}\n", "a: &b\n  c: d\ne: *b\n...\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, format := range map[string]Format{"JSON": JSON, "TOML": TOML, "YAML": YAML} {
			d, err := format([]byte(text))
			if err != nil || strings.TrimSpace(text) == "" {
				continue
			}
			before, err := d.Lookup()
			if err != nil {
				t.Fatal(err)
			}
			at, there := before.(map[string]any)["k1"]
			if below, is := at.(map[string]any); there && (!is || len(below) == 0 || below["k2"] != nil) {
				continue // an empty k1 would go with ours
			}
			err = d.Set(entry, "k1", "k2")
			if errors.Is(err, ErrShape) && name != "JSON" {
				continue // refused, which is always allowed
			}
			if err != nil {
				t.Fatalf("%s: set: %v", name, err)
			}
			if at, err := d.Lookup("k1", "k2"); err != nil || !reflect.DeepEqual(at, plain(entry)) {
				t.Fatalf("%s: %v, %v after set\n%s", name, at, err, d.Text())
			}
			if there, err := d.Drop("k1", "k2"); err != nil || !there {
				t.Fatalf("%s: drop: %v, %v\n%s", name, there, err, d.Text())
			}
			if after, err := d.Lookup(); err != nil || !reflect.DeepEqual(after, before) {
				t.Errorf("%s: content became %v, %v, was %v", name, after, err, before)
			}
			// Where a closing brace stood on a line with a comment it must get a
			// line of its own, so space is left out of the comparison.
			if squeeze(string(d.Text())) != squeeze(text) {
				t.Errorf("%s: got %q, want %q", name, d.Text(), text)
			}
		}
	})
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

func parsed(t *testing.T, format Format, text string) Document {
	t.Helper()
	d, err := format([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}
