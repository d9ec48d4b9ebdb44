package main

import (
	"strings"
)

// queriesPerClass is how many different queries each class asks.
const queriesPerClass = 40

// A queryClass is a kind of query with its queries.
type queryClass struct {
	name    string
	queries []string
}

// queryClasses draws the queries of every class from what was said: the same
// ones whenever the same was said.
func queryClasses(c *corpus) []queryClass {
	c.seed(7)
	text := func() []string { return strings.Fields(strings.ReplaceAll(c.prose[c.rnd.IntN(len(c.prose))], ".", "")) }
	foreign := func(n int) string {
		run := []rune(strings.NewReplacer("，", "", "。", "").Replace(c.foreign[c.rnd.IntN(len(c.foreign))]))
		i := c.rnd.IntN(len(run) - n)
		return string(run[i : i+n])
	}
	common := func() string { return c.between(5, 60) }
	middle := func() string { return c.between(200, 4_000) }
	long := func(from, to, letters int) string {
		for {
			if w := c.between(from, to); len(w) >= letters {
				return w
			}
		}
	}
	kinds := []struct {
		name string
		draw func() string
	}{
		{"rare word", func() string { return c.between(20_000, vocabulary) }},
		{"common word", common},
		{"two words", func() string { return middle() + " " + middle() }},
		{"or of three common", func() string { return common() + " OR " + common() + " OR " + common() }},
		{"prefix", func() string { return long(200, 4_000, 5)[:3+c.rnd.IntN(3)] + "*" }},
		{"phrase", func() string {
			w := text()
			i := c.rnd.IntN(len(w) - 1)
			return `"` + w[i] + " " + w[i+1] + `"`
		}},
		{"question", func() string {
			w := text()
			q := "how did we"
			for range 5 {
				q += " " + w[c.rnd.IntN(len(w))]
			}
			return q + "?"
		}},
		{"identifier", func() string { return c.identifiers[c.rnd.IntN(len(c.identifiers))] }},
		{"chinese 1", func() string { return foreign(1) }},
		{"chinese 2", func() string { return foreign(2) }},
		{"chinese 4", func() string { return foreign(4) }},
		{"typo", func() string {
			w := []byte(long(4_000, 20_000, 5))
			i := 1 + c.rnd.IntN(len(w)-2)
			w[i], w[i+1] = w[i+1], w[i]
			return string(w)
		}},
	}
	classes := make([]queryClass, 0, len(kinds))
	for _, k := range kinds {
		class := queryClass{name: k.name}
		for range queriesPerClass {
			class.queries = append(class.queries, k.draw())
		}
		classes = append(classes, class)
	}
	return classes
}
