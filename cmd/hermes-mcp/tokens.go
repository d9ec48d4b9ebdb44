package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/settings"
	"github.com/hermes-mcp/hermes-mcp/serve/web"
	"github.com/hermes-mcp/hermes-mcp/serve/web/oauth"
)

// A tokenEntry is one item of mcp/tokens.yaml.
type tokenEntry struct {
	Token    string `yaml:"token"`
	User     string `yaml:"user"`      // who is served; "" is whose home it is
	Profile  string `yaml:"profile"`   // whose home is served; "" is that of the run
	ReadOnly bool   `yaml:"read_only"` // edits are refused
}

// grants are what the tokens in mcp/tokens.yaml open beside the home's own. A
// file that is there and cannot be understood lets nobody in.
func (a *app) grants(ctx context.Context, home string, how serving) ([]web.Grant, error) {
	path := a.home.MCP("tokens.yaml")
	list, err := readTokens(path)
	if err != nil {
		return nil, err
	}
	var all []web.Grant
	tokens, started := map[string]bool{home: true}, map[*app]bool{}
	for i, t := range list {
		if why := t.wrong(tokens); why != "" {
			return nil, fmt.Errorf("%s, item %d: %s", path, i+1, why)
		}
		tokens[t.Token] = true
		grant := web.Grant{Name: fmt.Sprintf("token %d", i+1), Token: t.Token}
		of, err := a.inProfile(t.Profile)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			// One home that is not there yet is no reason to serve nobody.
			grant.Closed = fmt.Sprintf("the profile %q of this token has no folder: make it with hermes-mcp --profile %s memory list, then start the server again", t.Profile, t.Profile)
			fmt.Fprintf(a.err, "hermes-mcp: %s, item %d: %s\n", path, i+1, grant.Closed)
			all = append(all, grant)
			continue
		case err != nil:
			return nil, fmt.Errorf("%s, item %d: %w", path, i+1, err)
		}
		own := how
		own.user = t.User
		own.readOnly = how.readOnly || t.ReadOnly
		if of != a {
			own.pending = nil // nothing here ingests for another home
			if !started[of] && !how.readOnly {
				started[of] = true
				how.background(of.external.Guard.Run)
			}
		}
		if grant.Server, err = of.server(ctx, own); err != nil {
			return nil, err
		}
		all = append(all, grant)
	}
	return all, nil
}

// wrong says what is wrong with an entry beside those tokens, or "".
func (t tokenEntry) wrong(others map[string]bool) string {
	if err := checkUser(t.User); err != nil {
		return err.Error()
	}
	if n := len(t.Token); n < web.MinToken {
		return fmt.Sprintf("the token has %d characters and needs at least %d", n, web.MinToken)
	}
	if strings.ContainsAny(t.Token, " \t\r\n") {
		return "the token has a space in it, which no client can send"
	}
	if others[t.Token] {
		return "the token is another's already; each is for one"
	}
	return ""
}

// better is what to do about a token that will not do.
const better = "make one with openssl rand -hex 24, or leave it out, and one is made and kept in mcp/token"

// homeToken is the token of the home, and where it is written.
func (a *app) homeToken() (token, where string, err error) {
	if token = a.env("HERMES_MCP_TOKEN"); token == "" {
		where = a.home.MCP("token")
		if token, err = web.Token(where); err != nil && a.home.Unwritable() != nil {
			err = fmt.Errorf("%w; name one of at least %d characters in HERMES_MCP_TOKEN", err, web.MinToken)
		}
		return token, where, err
	}
	switch {
	case len(token) < web.MinToken:
		return "", "", usage("HERMES_MCP_TOKEN has %d characters and needs at least %d: "+better, len(token), web.MinToken)
	case strings.ContainsAny(token, " \t\r\n"):
		return "", "", usage("HERMES_MCP_TOKEN has a space or a line end in it, which no client can send: " + better)
	}
	return token, "HERMES_MCP_TOKEN", nil
}

// trust lets in those subjects of an authorization server that are configured;
// nobody else of it, since it may know many people.
func (a *app) trust(h *web.HTTP) error {
	set := a.config.HTTP
	if set.Authority == "" {
		return nil
	}
	if set.Resource == "" || len(set.Subjects) == 0 {
		return usage("http.authorization_server needs http.resource, this server's address, and http.subjects, who may come in")
	}
	h.Authority = &oauth.Server{Issuer: set.Authority, Resource: set.Resource}
	if err := h.Authority.Valid(); err != nil {
		return failure{codeUsage, err}
	}
	h.Subjects = map[string]string{}
	for _, s := range set.Subjects {
		h.Subjects[s] = homeGrant
	}
	return nil
}

// homeGrant is the name of what the home's own token opens.
const homeGrant = "home"

func readTokens(path string) ([]tokenEntry, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("tokens: %w", err)
	}
	var list []tokenEntry
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true) // a misspelt read_only must not open more than was meant
	if err := d.Decode(&list); err != nil && !errors.Is(err, io.EOF) {
		// The decoder names our types, which say nothing to anybody.
		why := strings.NewReplacer("yaml: ", "", "unmarshal errors:\n  ", "", " in type main.tokenEntry", "", "into []main.tokenEntry", "as a list", "main.tokenEntry", "an item", "\n  ", "; ").Replace(err.Error())
		return nil, fmt.Errorf("%s is no list of token, user, profile and read_only: %s", path, why)
	}
	return list, nil
}

// inProfile is this run in the home of a profile, with what is configured
// there. It is closed with this one.
func (a *app) inProfile(name string) (*app, error) {
	if name == "" || name == a.home.Profile {
		return a, nil
	}
	if one := a.profiles[name]; one != nil {
		return one, nil
	}
	root := a.home.Path
	if a.home.Profile != "" {
		root = filepath.Dir(filepath.Dir(root))
	}
	home, err := settings.Machine{}.Find(root, name)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(home.Path); err != nil {
		return nil, fmt.Errorf("profile %q: %w", name, err)
	}
	one := &app{in: a.in, out: a.out, err: a.err, env: a.env, home: home, log: a.log, logFile: a.logFile, settingFlags: a.settingFlags, given: a.given}
	one.config, one.problems = settings.Load(home.Path, a.given, a.env)
	one.connect()
	for _, p := range one.problems {
		fmt.Fprintf(a.err, "hermes-mcp: profile %s: %s (ignored)\n", name, p)
	}
	one.setArchive()
	if a.profiles == nil {
		a.profiles = map[string]*app{}
	}
	a.profiles[name] = one
	return one, nil
}
