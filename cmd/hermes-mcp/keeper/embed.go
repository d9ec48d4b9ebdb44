package keeper

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/hermes-mcp/hermes-mcp/summarizer"
)

// embedAgain is how long an embedder that failed is left alone here; an endpoint
// may ask for more, which its client knows.
const embedAgain = time.Minute

// embed gives what is archived its vectors, beside the scans: at once, whenever
// something new was archived, and again some time after a failure, of which the
// same one is logged once. It holds the archive open only while it does.
func (k *Keeper) embed(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	said := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.news:
		case <-timer.C:
		}
		err := k.embedOnce(ctx)
		switch {
		case err == nil:
			said = ""
			continue
		case ctx.Err() != nil:
			continue
		case !errors.Is(err, summarizer.ErrDown) && err.Error() != said: // that was logged when it went down
			said = err.Error()
			k.Log.Warn().Err(err).Msg("embed")
		}
		timer.Reset(embedAgain)
	}
}

func (k *Keeper) embedOnce(ctx context.Context) (err error) {
	defer debug.FreeOSMemory()
	db, err := k.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	sessions := 0
	err = db.Embed(ctx, func(n int) { sessions = n })
	if sessions > 0 {
		k.Log.Info().Int("sessions", sessions).Msg("embedded")
	}
	return err
}
