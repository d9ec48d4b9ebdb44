package health

import (
	"context"
	"io"
	"os"
	"os/exec"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients"
)

// checkClients looks at how each client that is here starts us, and starts what
// it would where the home is there already: a check makes nothing.
func (s Subject) checkClients(ctx context.Context, add addCheck) {
	_, err := os.Stat(s.Home.MCP())
	made := err == nil
	for _, c := range clients.All {
		file := c.File(s.Clients)
		now, there, err := c.ServerIn(file)
		switch {
		case err != nil:
			add("client", Bad, "%s: %v", c.Name, err)
		case !there && c.Present(s.Clients):
			add("client", Warn, "%s is here and does not know the server: hermes-mcp install %s", c.Name, c.Name)
		case there:
			s.checkClient(ctx, c, now, made, add)
		}
	}
	s.checkHook(add)
}

func (s Subject) checkClient(ctx context.Context, c clients.Client, now clients.Server, made bool, add addCheck) {
	if !now.Ours() {
		add("client", Warn, "%s knows a server %q that is another program's (%s); give it another name, then hermes-mcp install %s", c.Name, clients.Key, now.Command, c.Name)
		return
	}
	if _, err := exec.LookPath(now.Command); err != nil {
		add("client", Bad, "%s starts %s, which is not there: hermes-mcp install %s", c.Name, now.Command, c.Name).Mend = Mend(c.Name)
		return
	}
	if !made {
		add("client", Fine, "%s starts %s", c.Name, now)
		return
	}
	version, err := clients.Verify(ctx, now, io.Discard)
	switch {
	case err != nil:
		add("client", Bad, "%s starts %s, which does not answer (%v): hermes-mcp install %s", c.Name, now, err, c.Name)
	case version != s.Version:
		add("client", Warn, "%s starts %s, version %s, and this is %s: hermes-mcp install %s", c.Name, now, version, s.Version, c.Name).Mend = Mend(c.Name)
	default:
		add("client", Fine, "%s starts %s, and it answers", c.Name, now)
	}
}
