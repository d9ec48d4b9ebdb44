package plain

import (
	"fmt"
	"strings"
)

// Count says how many there are of something that is called one: "1 session",
// "2 entries".
func Count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	if stem, ok := strings.CutSuffix(one, "y"); ok {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, one)
}
