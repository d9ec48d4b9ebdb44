//go:build !race

package sessions

const racing = false
