package settings

import "strings"

// Owns tells whether sessions of the source that carry no user are user's. What
// is said of one source counts before what is said of all.
func (c Config) Owns(user, source string) bool {
	owner := ""
	for _, said := range c.Owner {
		of, name, one := strings.Cut(said, "=")
		switch {
		case one && of == source:
			return name == user
		case !one:
			owner = said
		}
	}
	return owner == user && user != ""
}
