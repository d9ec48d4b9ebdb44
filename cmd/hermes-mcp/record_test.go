package main

import (
	"strings"
	"testing"
)

func TestARecordedSessionIsOfOneUserAndOneKey(t *testing.T) {
	long := strings.Repeat("k", 300)
	of := map[string][2]string{}
	for _, pair := range [][2]string{
		{"", "chat:q 1"}, {"", "chat:q-1"}, {"", "chat:q\t1"}, {"", "chat:q--1"}, {"", "q"}, {"", ":q"}, {"", "-q"}, {"", "修改"}, {"", "端"},
		{"", long}, {"", long + "1"}, {"", long[:200]}, {"", long[:187]},
		{"anna", "chat:q-1"}, {"tom", "chat:q-1"}, {"anna", "chat:q 1"}, {"an", "nachat:q-1"},
		{"", recordedID("", "chat:q 1")}, {"", recordedID("anna", "chat:q-1")}, {"tom", recordedID("anna", "chat:q-1")},
	} {
		id := recordedID(pair[0], pair[1])
		if was, there := of[id]; there {
			t.Errorf("%q is the session of %q and of %q", id, was, pair)
		}
		of[id] = pair
		if id == "" || len(id) > longestID || unsafeID.MatchString(id) {
			t.Errorf("%q of %q cannot be an id", id, pair)
		}
	}
}

func TestAPlainKeyNamesTheSessionItAlwaysNamed(t *testing.T) {
	for _, key := range []string{
		"chat:agent:main:telegram:dm:7", "claude-code:11111111-2222-4333-8444-555555555555",
		"20261130T160000-4711", "claude-desktop:one", strings.Repeat("k", 200),
	} {
		if got := recordedID("", key); got != key {
			t.Errorf("%q became %q", key, got)
		}
	}
}
