package wire

import (
	"crypto/rand"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// A Session is the engine's view of one client of ours. Unlike the stock one
// it is not global, so two transports in one process do not meet.
type Session struct {
	id    string
	notes chan mcp.JSONRPCNotification

	mu          sync.Mutex
	initialized bool
	version     string
	client      mcp.Implementation
	caps        mcp.ClientCapabilities
	uris        []string
	filter      mcp.SubscriptionFilter
	listening   bool
}

var (
	_ server.SessionWithClientInfo            = (*Session)(nil)
	_ server.SessionWithProtocolVersion       = (*Session)(nil)
	_ server.SessionWithResourceSubscriptions = (*Session)(nil)
	_ server.SessionWithSubscriptionFilter    = (*Session)(nil)
)

// NewSession returns a session with an id of its own that begins with kind.
// Notifications that find the channel full are dropped by the engine.
func NewSession(kind string) *Session {
	return &Session{id: kind + "-" + rand.Text(), notes: make(chan mcp.JSONRPCNotification, 64)}
}

// SessionID is unique, also among processes.
func (s *Session) SessionID() string { return s.id }

// NotificationChannel takes what the engine has to tell the client.
func (s *Session) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.notes }

// Initialize notes that the client may be told things.
func (s *Session) Initialize() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.initialized = true
}

// Initialized tells whether it may.
func (s *Session) Initialized() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.initialized
}

// SetProtocolVersion notes what was agreed at initialize.
func (s *Session) SetProtocolVersion(v string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = v
}

// ProtocolVersion is what was agreed at initialize, "" before.
func (s *Session) ProtocolVersion() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// SetClientInfo notes who the client says it is.
func (s *Session) SetClientInfo(c mcp.Implementation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client = c
}

// GetClientInfo is who the client says it is.
func (s *Session) GetClientInfo() mcp.Implementation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

// SetClientCapabilities notes what the client can do.
func (s *Session) SetClientCapabilities(c mcp.ClientCapabilities) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caps = c
}

// GetClientCapabilities is what the client can do.
func (s *Session) GetClientCapabilities() mcp.ClientCapabilities {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.caps
}

// SubscribeToResource notes that the client wants to hear of uri.
func (s *Session) SubscribeToResource(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.uris, uri) {
		s.uris = append(s.uris, uri)
	}
}

// UnsubscribeFromResource takes that back.
func (s *Session) UnsubscribeFromResource(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uris = slices.DeleteFunc(s.uris, func(u string) bool { return u == uri })
}

// SubscribedResources are what the client wants to hear of.
func (s *Session) SubscribedResources() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.uris)
}

// IsSubscribedToResource tells whether the client wants to hear of uri.
func (s *Session) IsSubscribedToResource(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.uris, uri)
}

// SetSubscriptionFilter notes what the client listens for.
func (s *Session) SetSubscriptionFilter(f mcp.SubscriptionFilter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.filter, s.listening = f, !f.IsEmpty()
}

// SubscriptionFilter is what the client listens for, if it does.
func (s *Session) SubscriptionFilter() (mcp.SubscriptionFilter, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.filter, s.listening
}
