package tools

// evidence is what was drawn out of a session for one query, every piece with
// the message it stands in.
type evidence struct {
	Digest    []cited   `json:"digest,omitempty"`
	Commands  []command `json:"commands,omitempty"`
	Files     []file    `json:"files,omitempty"`
	Decisions []cited   `json:"decisions,omitempty"`
	Errors    []problem `json:"errors,omitempty"`
}

type cited struct {
	Text      string `json:"text"`
	MessageID string `json:"message_id"`
}

type command struct {
	Command   string `json:"command"`
	Exit      *int   `json:"exit,omitempty"`
	MessageID string `json:"message_id"`
}

type file struct {
	Path      string `json:"path"`
	Action    string `json:"action"`
	MessageID string `json:"message_id"`
}

type problem struct {
	Error     string `json:"error"`
	Fix       string `json:"fix,omitempty"`
	MessageID string `json:"message_id"`
}

// showEvidence adds the digest, and with facts what was run, changed, decided
// and went wrong, while they fit into room.
func (s *search) showEvidence(h *hit, m *material, k ask, p *purse, room int, facts bool) {
}
