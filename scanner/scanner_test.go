package scanner

import "testing"

func TestEveryRuleBehavesAsItsExamplesSay(t *testing.T) {
	if err := SelfTest(); err != nil {
		t.Fatal(err)
	}
}
