package clients

import "testing"

func TestWhatGoRunMadeIsNoProgramToWriteDown(t *testing.T) {
	const hash = "48c3fee689e2152671f0bf0226bbf300abeda716dcbcf303273c9c5ea9237e9e"
	for path, want := range map[string]bool{
		"/tmp/go-build1234567/b001/exe/hermes-mcp":                         true,
		`C:\Users\u\AppData\Local\Temp\go-build77\b001\exe\hermes-mcp.exe`: true,
		"/home/u/.cache/go-build/48/" + hash + "-d/hermes-mcp":             true,
		"/elsewhere/48/" + hash + "-d/hermes-mcp":                          true,
		`D:\cache\48\` + hash + `-d\hermes-mcp.exe`:                        true,
		"/home/u/.local/bin/hermes-mcp":                                    false,
		"/home/u/exe/hermes-mcp":                                           false,
		"/home/u/go-build/hermes-mcp":                                      false,
		"/nix/store/" + hash[:32] + "-hermes-mcp/bin/hermes-mcp":           false,
		"hermes-mcp": false,
	} {
		if got := passing(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}
