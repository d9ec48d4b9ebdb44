package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/serve/web"
)

// clientsReport says what many clients of one server over HTTP meet, beside
// the same calls to a handler that does nothing.
type clientsReport struct {
	Clients    int        `json:"clients"`
	Calls      int        `json:"calls"` // of each client
	Dropped    int        `json:"dropped"`
	Kinds      []callKind `json:"kinds"`
	Saved      int        `json:"saved"`      // adds that were acknowledged
	Lost       int        `json:"lost"`       // of those, not in the file afterwards
	Goroutines int        `json:"goroutines"` // more than before the first client, when the last had gone
}

type callKind struct {
	Name  string  `json:"name"`
	Calls int     `json:"calls"`
	P50   float64 `json:"p50_ms"`
	P95   float64 `json:"p95_ms"`
}

func clientsCommand(show func(report) error, stderr io.Writer) *cobra.Command {
	var clients, calls, drop, messages int
	c := &cobra.Command{
		Use:   "clients",
		Short: "What many clients of one HTTP server meet, some of which drop their connection midway",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if clients < 1 || calls < 1 || drop < 0 || drop > clients || messages < sessionLength {
				return fmt.Errorf("--clients and --calls are at least 1, --drop at most as many as --clients, --messages at least %d", sessionLength)
			}
			b, err := newBed(c.Context(), "")
			if err != nil {
				return err
			}
			r, err := b.measureClients(c.Context(), clientsReport{Clients: clients, Calls: calls, Dropped: drop}, messages, stderr)
			if err = closing(b, err); err != nil {
				return err
			}
			if err := show(r); err != nil {
				return err
			}
			if r.Lost > 0 || r.Goroutines > 0 {
				return errors.New("something was lost or left behind")
			}
			return nil
		},
	}
	c.Flags().IntVar(&clients, "clients", 50, "clients at once, each in a session of its own")
	c.Flags().IntVar(&calls, "calls", 200, "calls of each client")
	c.Flags().IntVar(&drop, "drop", 10, "clients that drop their connection in the middle of a write")
	c.Flags().IntVar(&messages, "messages", 5_000, "messages to generate for the searches")
	return c
}

func (b *bed) measureClients(ctx context.Context, r clientsReport, messages int, stderr io.Writer) (clientsReport, error) {
	samples, err := b.fill(ctx, messages, stderr)
	if err != nil {
		return r, err
	}
	var queries []string
	for _, class := range queryClasses(samples) {
		queries = append(queries, class.queries...)
	}
	token := rand.Text() + rand.Text()
	h := &web.HTTP{Grants: []web.Grant{{Name: "bench", Token: token, Server: b.server}}}
	bare := newCrowd(r, token, queries)
	if err := bare.visit(ctx, emptyServer); err != nil {
		return r, err
	}
	crowd := newCrowd(r, token, queries)
	if err := crowd.visit(ctx, h.Serve); err != nil {
		return r, err
	}
	r.Kinds = append(r.Kinds, bare.kind("a handler that does nothing", kinds...))
	for _, name := range kinds {
		r.Kinds = append(r.Kinds, crowd.kind(name, name))
	}
	r.Goroutines = crowd.left
	file, err := os.ReadFile(filepath.Join(b.home, "memories", "MEMORY.md"))
	if err != nil {
		return r, err
	}
	there := map[string]bool{}
	for _, entry := range strings.Split(strings.TrimSpace(string(file)), "\n§\n") {
		there[entry] = true
	}
	for _, fact := range crowd.saved {
		r.Saved++
		if !there[fact] {
			r.Lost++
		}
	}
	return r, nil
}

// emptyAnswer is what the handler that does nothing says to everything.
const emptyAnswer = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"success\":true}"}]}}`

// emptyServer reads what it is sent and does nothing.
func emptyServer(ctx context.Context, ln net.Listener) error {
	return serveUntil(ctx, ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Mcp-Session-Id", "none")
		_, _ = io.WriteString(w, emptyAnswer) // a client that has gone is meant to be
	}))
}

func (r clientsReport) table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%d clients x %d calls, %d dropped midway\tcalls\tp50 ms\tp95 ms\t\n", r.Clients, r.Calls, r.Dropped)
	for _, k := range r.Kinds {
		fmt.Fprintf(t, "%s\t%d\t%.2f\t%.2f\t\n", k.Name, k.Calls, k.P50, k.P95)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%d writes were acknowledged, %d of them are lost; %d goroutines are left behind\n", r.Saved, r.Lost, r.Goroutines)
	return err
}
