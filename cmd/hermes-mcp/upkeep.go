package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hermes-mcp/hermes-mcp/curator"
	"github.com/hermes-mcp/hermes-mcp/curator/relay"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

const (
	// upkeepEvery is how often a server looks at the queue.
	upkeepEvery = time.Minute
	// idle is how long a session lies still before it is flushed although no
	// hook said that it ended; forgotten is from when on it is left alone.
	idle      = time.Hour
	forgotten = 24 * time.Hour
	// mostIdle bounds the sessions looked at in one round.
	mostIdle = 50
)

// upkeep finishes what hooks left in the queue, and flushes sessions of clients
// that have no hooks and tells the provider of them, until ctx is done.
func (a *app) upkeep(ctx context.Context) {
	if err := a.external.Relay.Begin(); err != nil {
		a.log.Error().Err(err).Msg("provider")
	}
	tick := time.NewTicker(upkeepEvery)
	defer tick.Stop()
	seen := map[string]time.Time{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		w := a.worker()
		var err error
		if (a.flushesIdle() || a.external.Guard != nil) && a.archive.exists() {
			err = w.queueIdle(ctx, seen)
		}
		if err = errors.Join(err, w.run(ctx)); err != nil && ctx.Err() == nil {
			a.log.Warn().Err(err).Msg("flushes and reviews")
		}
	}
}

func (a *app) flushesIdle() bool { return a.flushModel() != nil && a.config.FlushMinTurns > 0 }

// queueIdle queues a flush for every session that lies still, and has its turns
// told to the provider. seen holds when those that were queued before were last
// active.
func (a worker) queueIdle(ctx context.Context, seen map[string]time.Time) error {
	db, err := a.archive.open(ctx)
	if err != nil {
		return err
	}
	now := time.Now()
	recent, err := db.Recent(ctx, transcript.Query{Since: now.Add(-forgotten), Limit: mostIdle})
	if err != nil {
		return err
	}
	for _, s := range recent {
		if now.Sub(s.LastActive) < idle || seen[s.ID].Equal(s.LastActive) || a.config.Excluded(s.Source()) {
			continue
		}
		seen[s.ID] = s.LastActive
		if a.flushesIdle() {
			if err := a.queue().Add(curator.Job{Kind: curator.FlushJob, Session: s.ID, Path: s.SourcePath, Dir: s.Dir, Reason: "idle"}); err != nil {
				return err
			}
		}
		// The same for all servers, of which each comes here.
		id := fmt.Sprintf("idle:%s/%d", s.ID, s.LastActive.UnixMilli())
		if err := a.external.Relay.Put(ctx, relay.Event{ID: id, Kind: relay.Turn, Session: s.ID, Path: s.SourcePath, Dir: s.Dir}); err != nil {
			return err
		}
	}
	return nil
}
