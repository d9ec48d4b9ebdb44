package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

func TestTheLogHoldsNoSecret(t *testing.T) {
	secret := "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	var out strings.Builder
	log := zerolog.New(redacting{&out})
	log.Error().Str("url", "postgres://demo:hunter2secret@db/shop").Msg("cannot log in with " + secret)
	if line := out.String(); strings.Contains(line, secret) || strings.Contains(line, "hunter2secret") || !json.Valid([]byte(line)) {
		t.Errorf("%s", line)
	}
}
