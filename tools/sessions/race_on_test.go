//go:build race

package sessions

// racing tells that the race detector watches, which makes everything slow.
const racing = true
