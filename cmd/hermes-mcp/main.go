// Command hermes-mcp gives any MCP client the memory of Hermes Agent: a small
// curated memory, and an archive of every session of every agent here.
//
// This folder wires the rooms together. It alone reads flags, environment and
// configuration, logs, and decides exit codes: 0 fine, 1 failed, 2 usage,
// 3 partly done. One file holds one subcommand. Settings, the question who
// calls, and the clients' configuration files are packages of their own below.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
)

func main() {
	zerolog.ErrorMarshalFunc = loggable
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// Exit codes.
const (
	codeFailed = 1
	codeUsage  = 2
	codePartly = 3
)

// A failure ends the program with a code of its own. A nil err is silent: what
// there was to say was said.
type failure struct {
	code int
	err  error
}

func (f failure) Error() string {
	if f.err == nil {
		return ""
	}
	return f.err.Error()
}

func (f failure) Unwrap() error { return f.err }

// usage is a failure of the person who called.
func usage(format string, args ...any) error {
	return failure{codeUsage, fmt.Errorf(format, args...)}
}

// run is the whole program. It returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if isTerminal(stdout) {
		stdout = screen{stdout}
	}
	if isTerminal(stderr) {
		stderr = screen{stderr}
	}
	printed := &printer{to: stdout}
	a := &app{in: stdin, out: printed, err: stderr, env: os.Getenv}
	defer a.close()
	root := a.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(printed)
	root.SetErr(stderr)
	used, err := root.ExecuteContextC(ctx)
	if a.hooking || isHook(args) || used.Name() == "hook" {
		// An agent takes exit 2 for a veto: a hook never fails, it logs.
		if err != nil {
			a.log.Error().Err(err).Msg("hook")
		}
		if err != nil && a.logFile == nil {
			fmt.Fprintln(stderr, "hermes-mcp:", err) // it came to no log
		}
		return 0
	}
	if err == nil && printed.failed != nil {
		err = failure{codeFailed, fmt.Errorf("the result could not be printed: %w", printed.failed)}
	}
	if err == nil {
		return 0
	}
	var f failure
	if errors.As(err, &f) {
		if err.Error() != "" {
			fmt.Fprintln(stderr, "hermes-mcp:", a.pasteable(err.Error()))
		}
		return f.code
	}
	// What cobra itself refuses is a wrong command line.
	fmt.Fprintf(stderr, "hermes-mcp: %s\n%s", plainly(used, err), advice(used, args))
	return codeUsage
}

// isHook tells whether a command line that may not even parse was a hook's.
func isHook(args []string) bool { return len(args) > 0 && args[0] == "hook" }

// root is the command tree. Help lists the first group before the rest.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "hermes-mcp",
		Short:         "Hermes Agent's memory for any MCP client",
		SilenceErrors: true,

		SuggestionsMinimumDistance: 2,
		SilenceUsage:               true,
		Args:                       cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if isTerminal(a.in) {
				fmt.Fprint(a.out, firstWords)
				return nil
			}
			return a.begin(cmd, true, a.serve)
		},
	}
	cobra.EnableCommandSorting = false
	root.AddGroup(&cobra.Group{ID: first, Title: "Start here:"}, &cobra.Group{ID: rest, Title: "The rest:"})
	a.bind(root)
	root.AddCommand(a.installCommand(), a.serveCommand(), a.ingestCommand(), a.searchCommand(), a.memoryCommand(), a.doctorCommand())
	for _, c := range root.Commands() {
		c.GroupID = first
	}
	others := []*cobra.Command{
		a.uninstallCommand(), a.printConfigCommand(), a.sessionsCommand(), a.showCommand(),
		a.hookCommand(), a.workCommand(), a.reviewCommand(), a.providerCommand(), a.callCommand(), a.archiveCommand(), a.statusCommand(), a.versionCommand(),
	}
	for _, c := range others {
		c.GroupID = rest
	}
	root.AddCommand(others...)
	root.SetHelpCommandGroupID(rest)
	root.SetCompletionCommandGroupID(rest)
	root.InitDefaultCompletionCmd()
	a.shortenHelp(root)
	askForOne(root)
	refuseEmpty(root)
	return root
}

const (
	first = "first"
	rest  = "rest"
)

const firstWords = `install:  hermes-mcp install claude-code   (or --all)
ingest:   hermes-mcp ingest                (archives every session found on this machine)
try:      hermes-mcp search QUERY          (and hermes-mcp --help for the rest)
`

// A screen is a person's terminal. What is kept may hold terminal codes, in a
// file that was edited by hand for example; none of them reaches the screen.
type screen struct{ to io.Writer }

// Write writes p without control characters other than line ends and tabs.
func (s screen) Write(p []byte) (int, error) {
	if _, err := io.WriteString(s.to, plain.Filter{}.Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// A printer is where results go. It keeps in mind that one could not be written,
// to a full disk for example, so that this does not pass for success.
type printer struct {
	to     io.Writer
	failed error
}

// Write implements io.Writer.
func (p *printer) Write(b []byte) (int, error) {
	n, err := p.to.Write(b)
	if p.failed == nil {
		p.failed = err
	}
	return n, err
}

// isTerminal tells whether a stream is a person's.
func isTerminal(stream any) bool {
	if s, ok := stream.(screen); ok {
		stream = s.to
	}
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
