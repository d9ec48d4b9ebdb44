package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// BenchmarkFiftyClients has fifty clients edit and read one memory over HTTP,
// each in a session of its own, and prints what half of the calls and all but
// a twentieth took at most.
func BenchmarkFiftyClients(b *testing.B) {
	const clients = 50
	home := b.TempDir()
	s := (&desk{}).site(b, func(h *HTTP) { h.Grants[0].Server = memoryServer(b, home) })
	pool := http.DefaultTransport.(*http.Transport)
	was := pool.MaxIdleConnsPerHost
	pool.MaxIdleConnsPerHost = clients // a client keeps its connection
	defer func() { pool.MaxIdleConnsPerHost = was }()

	memory := func(args string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory","arguments":` + args + `}}`
	}
	const snapshot = `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"hermes://memory/snapshot"}}`
	var mu sync.Mutex
	took := map[string][]time.Duration{}
	call := func(kind, session, body, want string) {
		start := time.Now()
		r, err := s.try("POST", "/mcp", body, "Mcp-Session-Id", session)
		d := time.Since(start)
		if err != nil || r.status != http.StatusOK || !strings.Contains(r.body, want) {
			b.Errorf("%s: %+v %v", kind, r, err)
		}
		mu.Lock()
		defer mu.Unlock()
		took[kind] = append(took[kind], d)
	}
	sessions := make([]string, clients)
	for i := range sessions {
		sessions[i] = s.hello()
	}
	work := make(chan int)
	var running sync.WaitGroup
	b.ResetTimer()
	for c, session := range sessions {
		running.Go(func() {
			for i := range work {
				fact := fmt.Sprintf("fact %d of %d", i, c)
				call("write", session, memory(`{"action":"add","content":"`+fact+`"}`), "Entry added")
				call("read", session, memory(`{"action":"read"}`), fact)
				call("read", session, snapshot, "contents")
				call("write", session, memory(`{"action":"remove","old_text":"`+fact+`"}`), "removed")
			}
		})
	}
	for i := range b.N {
		work <- i
	}
	close(work)
	running.Wait()
	b.StopTimer()
	for kind, all := range took {
		slices.Sort(all)
		ms := func(share float64) float64 { return float64(all[int(share*float64(len(all)-1))].Microseconds()) / 1000 }
		b.ReportMetric(ms(0.50), kind+"-p50-ms")
		b.ReportMetric(ms(0.95), kind+"-p95-ms")
	}
}
