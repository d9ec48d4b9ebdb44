package keeper

import "runtime"

// slack is how much memory a Slack is of, in bytes. It is never touched, so that
// it takes up addresses, not memory.
const slack = 12 << 20

// Slack lets a backfill leave that much more garbage before it is collected, until
// release is called: what it has in use is so little that the collector would run
// a hundred times a second. Raising the collector's percentage instead would
// multiply what a huge line takes, too.
func Slack() (release func()) {
	held := make([]byte, slack)
	return func() { runtime.KeepAlive(held) }
}
