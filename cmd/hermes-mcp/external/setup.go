package external

import (
	"errors"
	"fmt"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients/configfile"
	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/settings"
)

// Setup names a provider in the config file at path, with what it needs, and
// leaves all else in the file as it is. With dry it only looks. Errors: those of
// configfile.Edit.
func Setup(path string, c settings.Provider, dry bool) (configfile.Outcome, error) {
	own, at := configfile.Entry{}, c.Name
	if len(c.Exec.Command) > 0 {
		own = append(own, configfile.Field{Key: "command", Value: c.Exec.Command})
	}
	if c.Holographic.Path != "" {
		own = append(own, configfile.Field{Key: "path", Value: c.Holographic.Path})
	}
	out, err := configfile.Edit(path, configfile.YAML, dry, func(d configfile.Document) error {
		if err := d.Set(configfile.Entry{{Key: "name", Value: c.Name}}, "provider"); err != nil || len(own) == 0 {
			return err
		}
		return d.Set(own, "provider", at)
	})
	if errors.Is(err, configfile.ErrShape) {
		whole := configfile.Entry{{Key: "name", Value: c.Name}}
		if len(own) > 0 {
			whole = append(whole, configfile.Field{Key: at, Value: own})
		}
		if text, wrong := configfile.Snippet(configfile.YAML, whole, "provider"); wrong == nil {
			err = fmt.Errorf("%w; it was left as it is: write there yourself\n%s", err, text)
		}
	}
	return out, err
}
