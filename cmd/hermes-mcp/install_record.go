package main

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients"
)

const recordFlag = "--record"

// recording is server with session_record switched on where a person wants it.
// The user of a client that writes its conversations nowhere is asked, or told
// how.
func (a *app) recording(c clients.Client, s *setup, file string, server clients.Server, how install) clients.Server {
	on := how.record != nil && *how.record
	if how.record == nil {
		now, there, err := c.ServerIn(file)
		if err != nil {
			return server // what is wrong with the file is told by who writes it
		}
		on = there && slices.Contains(now.Args, recordFlag) // as it was decided before
		if c.Unread && !on && !how.dryRun {
			on = a.wantsRecording(c, s)
		}
	}
	if on {
		server.Args = append(slices.Clone(server.Args), recordFlag)
	}
	return server
}

func (a *app) wantsRecording(c clients.Client, s *setup) bool {
	fmt.Fprintf(s.words, "  %s keeps its conversations in no file, so they are not archived by themselves.\n", c.Title)
	if !isTerminal(a.in) || !isTerminal(a.err) {
		fmt.Fprintf(s.words, "  %s %s --record lets the model keep a turn's text and its outcome in the archive\n", a.pasteable("hermes-mcp install"), c.Name)
		return false
	}
	fmt.Fprint(a.err, "  Let the model keep a turn's text and its outcome in the archive? [y/N] ")
	line, err := bufio.NewReader(a.in).ReadString('\n')
	if err != nil && line == "" {
		return false
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}
