package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/rs/zerolog"

	"github.com/hermes-mcp/hermes-mcp/provider"
	"github.com/hermes-mcp/hermes-mcp/scanner"
)

// largestLog is where the log file is put aside as .old.
const largestLog = 4 << 20

// openLog starts the log in mcp/logs and, from warnings on, on stderr too. What
// memory and transcripts hold is never logged above debug, and secrets (an error
// may quote one) never. HERMES_MCP_LOG names
// the level of the file, info when unset.
func (a *app) openLog(toStderr bool) {
	var writers []io.Writer
	if toStderr {
		stderr := zerolog.ConsoleWriter{Out: a.err, NoColor: true, PartsExclude: []string{zerolog.TimestampFieldName}}
		writers = append(writers, &zerolog.FilteredLevelWriter{Writer: zerolog.LevelWriterAdapter{Writer: redacting{stderr}}, Level: zerolog.WarnLevel})
	}
	file, err := logFile(a.home.MCP("logs"), "hermes-mcp.log")
	if err != nil && a.home.Unwritable() == nil {
		fmt.Fprintln(a.err, "hermes-mcp: no log file:", err)
	} else if err == nil {
		a.logFile = file
		writers = append(writers, redacting{file})
	}
	level, err := zerolog.ParseLevel(a.env("HERMES_MCP_LOG"))
	if err != nil {
		fmt.Fprintf(a.err, "hermes-mcp: HERMES_MCP_LOG is %q, which is no level: taken as info; it is one of debug, info, warn, error\n", a.env("HERMES_MCP_LOG"))
	}
	if err != nil || level == zerolog.NoLevel {
		level = zerolog.InfoLevel
	}
	a.log = zerolog.New(zerolog.MultiLevelWriter(writers...)).Level(level).With().Timestamp().Int("pid", os.Getpid()).Logger()
}

func logFile(folder, name string) (*os.File, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(folder, name)
	if info, err := os.Stat(path); err == nil && info.Size() > largestLog {
		if err := os.Rename(path, path+".old"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
}

// loggable is what a line of the log holds of an error, nil of none.
func loggable(err error) any {
	if err == nil {
		return nil
	}
	return provider.Loggable(err)
}

// redacting masks secrets in lines of the log.
type redacting struct{ to io.Writer }

// Write implements io.Writer. It counts what it was given, for the line that is
// written may be shorter.
func (r redacting) Write(line []byte) (int, error) {
	if _, err := io.WriteString(r.to, scanner.Redact(string(line))); err != nil {
		return 0, err
	}
	return len(line), nil
}

// A childLog takes what the provider's program writes to standard error, into a
// file of its own: its words are not ours, and may hold what it was told. The
// file is made by the first of them.
type childLog struct {
	folder string
	mu     sync.Mutex
	file   *os.File
}

// Write implements io.Writer. What cannot be kept is dropped: the program must
// not stop for it.
func (l *childLog) Write(words []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		file, err := logFile(l.folder, "provider.log")
		if err != nil {
			return len(words), nil
		}
		l.file = file // open as long as the process, which is that of its program
	}
	return redacting{l.file}.Write(words)
}
