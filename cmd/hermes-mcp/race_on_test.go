//go:build race

package main

// racing tells that the race detector watches, which makes everything slow.
const racing = true
