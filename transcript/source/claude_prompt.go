package source

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// userLine reads a line of type user: a prompt, the results of tools, or text
// that was put in by the program.
func (p *claudePass) userLine(l claudeLine) error {
	if l.UUID != "" {
		h, said := hashOf(string(l.SessionID), l.UUID), hashOf(string(l.Message))
		first, again := p.seen[h]
		if again && first == said {
			return nil // written again: the first one counts
		}
		if again { // another text under a used id: kept under one of its own
			l.UUID = fmt.Sprintf("%s~%x", l.UUID, said)
		} else {
			if len(p.seen) > 1<<18 {
				clear(p.seen)
			}
			p.seen[h] = said
		}
	}
	if p.kind == claudeAgent && l.ForkedFrom.SessionID != "" {
		return nil // the parent's, inherited
	}
	var m claudeMessage
	if len(l.Message) > 0 && l.Message[0] == '"' {
		m.Content = l.Message
	} else if decode(l.Message, &m) != nil {
		return nil
	}
	var texts []string
	results := 0
	for _, b := range blocksOf(m.Content) {
		if b.Type != "tool_result" {
			texts = append(texts, b.text())
			continue
		}
		if err := p.toolResult(l, b, results); err != nil {
			return err
		}
		results++
	}
	text := join(texts...)
	if text == "" {
		return nil
	}
	if l.Compact {
		return p.compactSummary(l, text)
	}
	return p.said(l, text, results > 0)
}

// said delivers the text of a user line: a prompt, or what the program put in.
func (p *claudePass) said(l claudeLine, text string, besideResults bool) error {
	msg := transcript.Message{UID: l.UUID, Role: transcript.UserRole}
	switch {
	case besideResults:
		msg.Kind, msg.Content = "notice", text
		if msg.UID != "" {
			msg.UID += "/text"
		}
	case l.Meta:
		msg.Kind, msg.Content = "meta", text
	case l.Origin.Kind != "" && l.Origin.Kind != "human" && l.Origin.Kind != "cli":
		msg.Kind, msg.Content = "notice", text
	default:
		msg.Content, msg.Kind = prompt(text)
	}
	if msg.Kind == "" {
		if p.dequeue(l, msg.Content) {
			return nil
		}
		if err := p.rewound(l); err != nil {
			return err
		}
	}
	if title, ok := strings.CutPrefix(msg.Content, "/rename "); ok {
		if err := p.title(l, title, titleRenamed); err != nil {
			return err
		}
	}
	if isOwnText(text) && msg.Kind != "" {
		msg.OwnTrace = true
	}
	return p.deliver(l, msg)
}

// compactSummary delivers the summary that goes on in place of what was
// compacted.
func (p *claudePass) compactSummary(l claudeLine, text string) error {
	return p.deliver(l, transcript.Message{UID: l.UUID, Role: transcript.Summary, Content: text})
}

// rewound tells the sink when a prompt takes the place of an earlier one: both
// hang on the same message, so the user went back there.
func (p *claudePass) rewound(l claudeLine) error {
	if l.Parent == "" || l.UUID == "" {
		return nil
	}
	id, _ := p.owner(l)
	now := claudePrompt{Session: id, Line: l.Parent, Parent: p.uidOf(l.Parent), UID: l.UUID}
	var earlier string
	for _, pr := range p.st.Prompts {
		if pr.Session == id && (pr.Parent == now.Parent || pr.Line == now.Line) && pr.UID != now.UID && pr.UID != now.Parent {
			earlier = pr.UID
			break
		}
	}
	if len(p.st.Prompts) >= maxPrompts {
		p.st.Prompts = slices.Delete(p.st.Prompts, 0, 1)
	}
	p.st.Prompts = append(p.st.Prompts, now)
	r, ok := p.sink.(transcript.Reviser)
	if !ok || earlier == "" {
		return nil
	}
	if err := p.flush(); err != nil {
		return err
	}
	return r.Rewind(id, earlier)
}

var (
	reminder    = regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>\s*`)
	ideContext  = regexp.MustCompile(`(?s)<(ide_opened_file|ide_selection|ide_diagnostics)>.*?</(?:ide_opened_file|ide_selection|ide_diagnostics)>\s*`)
	commandName = regexp.MustCompile(`(?s)<command-name>\s*(.*?)\s*</command-name>`)
	commandArgs = regexp.MustCompile(`(?s)<command-args>\s*(.*?)\s*</command-args>`)
	bashInput   = regexp.MustCompile(`(?s)^<bash-input>\s*(.*?)\s*</bash-input>`)
)

// notPrompts is how text begins that the program, not a person, put in.
var notPrompts = []string{
	"<local-command-caveat>", "Caveat: The messages below were generated", "<local-command-stdout>", "<local-command-stderr>",
	"<bash-stdout>", "<bash-stderr>", "<task-notification>", "[Request interrupted by user",
	"This session is being continued from a previous", "<teammate-message", "<cross-session-message", "Stop hook feedback:",
}

// prompt returns what a person typed, without what the program wrapped around
// it, and the kind of message it is: "" for a human prompt.
func prompt(text string) (typed, kind string) {
	typed = strings.TrimSpace(ideContext.ReplaceAllString(reminder.ReplaceAllString(text, ""), ""))
	if typed == "" {
		return text, "meta"
	}
	for _, not := range notPrompts {
		if strings.HasPrefix(typed, not) {
			return typed, "notice"
		}
	}
	if name := commandName.FindStringSubmatch(typed); name != nil && strings.HasPrefix(typed, "<command-") {
		cmd := "/" + strings.TrimPrefix(name[1], "/")
		if a := commandArgs.FindStringSubmatch(typed); a != nil && a[1] != "" {
			return cmd + " " + a[1], ""
		}
		return cmd, "command"
	}
	if in := bashInput.FindStringSubmatch(typed); in != nil {
		return "!" + in[1], ""
	}
	return typed, ""
}

// systemLine reads a line of type system.
func (p *claudePass) systemLine(l claudeLine) error {
	text := str(l.Content)
	msg := transcript.Message{UID: l.UUID, Role: transcript.System, Kind: "notice", Content: text}
	switch l.Subtype {
	case "compact_boundary":
		return p.compacted(l)
	case "away_summary":
		msg.Role, msg.Kind = transcript.Summary, ""
	case "local_command":
		msg.Role = transcript.UserRole
		if msg.Content, msg.Kind = prompt(text); msg.Kind == "" {
			msg.Kind = "command"
		}
	case "informational", "error", "api_error", "api_refusal", "":
		msg.IsError = l.Subtype == "error" || l.Subtype == "api_error"
		if text == "" && msg.IsError {
			var e struct {
				Message   string `json:"message"`
				Formatted string `json:"formatted"`
			}
			if len(l.Error) > 0 && decode(l.Error, &e) == nil {
				msg.Content = e.Message
			}
		}
	default:
		return nil
	}
	if strings.TrimSpace(msg.Content) == "" {
		return nil
	}
	return p.deliver(l, msg)
}

// compacted tells the sink that what was delivered so far left the context.
func (p *claudePass) compacted(l claudeLine) error {
	if l.UUID != "" && l.LogicalPar != "" {
		p.alias(l.UUID, p.uidOf(l.LogicalPar))
	}
	r, ok := p.sink.(transcript.Reviser)
	if !ok {
		return nil
	}
	if err := p.flush(); err != nil {
		return err
	}
	id, _ := p.owner(l)
	return r.Compact(id)
}

// attachmentLine reads a line of type attachment: a prompt typed while a tool
// ran, or what a hook put into the context.
func (p *claudePass) attachmentLine(l claudeLine) error {
	var a struct {
		Type    string    `json:"type"`
		Prompt  rawJSON   `json:"prompt"`
		Content rawJSON   `json:"content"`
		Source  string    `json:"source_uuid"`
		At      moment    `json:"timestamp"`
		Origin  claudeKey `json:"origin"`
		Meta    bool      `json:"isMeta"`
	}
	if decode(l.Attachment, &a) != nil {
		return nil
	}
	msg := transcript.Message{UID: l.UUID, Role: transcript.UserRole, At: a.At.Time}
	switch a.Type {
	case "queued_command":
		text := blockText(a.Prompt)
		if text == "" {
			return nil
		}
		if a.Source != "" && a.Source != l.UUID {
			msg.UID = a.Source
		}
		msg.Content, msg.Kind = prompt(text)
		if a.Meta || a.Origin.Kind != "" && a.Origin.Kind != "human" {
			msg.Kind = "notice"
		}
		if msg.Kind == "" && p.dequeue(l, msg.Content) {
			return nil
		}
	case "hook_additional_context", "hook_system_message":
		msg.Role, msg.Kind, msg.Content = transcript.System, "meta", blockText(a.Content)
		if msg.Content == "" {
			return nil
		}
		msg.OwnTrace = isOwnText(msg.Content)
	default:
		return nil
	}
	return p.deliver(l, msg)
}

// queueLine follows the queue of prompts typed while the agent was busy. A
// prompt in it usually comes again as an ordinary line; where it does not,
// the queue's line is the only copy.
func (p *claudePass) queueLine(l claudeLine) error {
	text := str(l.Content)
	id, _ := p.owner(l)
	switch l.Operation {
	case "enqueue", "":
		typed, kind := prompt(text)
		if strings.TrimSpace(text) == "" {
			return nil
		}
		if kind != "" {
			return p.deliver(l, transcript.Message{UID: l.UUID, Role: transcript.System, Kind: "notice", Content: text})
		}
		if len(p.st.Queued) >= maxQueued {
			p.st.Queued = slices.Delete(p.st.Queued, 0, 1)
		}
		p.st.Queued = append(p.st.Queued, claudeQueued{Session: string(l.SessionID), Text: typed, At: l.At,
			UID: fmt.Sprintf("q%x.%x", l.At.UnixMilli(), hashOf(id, typed))})
	case "remove": // taken in between two tool calls
		for i, q := range p.st.Queued {
			if !q.Delivered {
				return p.deliverOne(i)
			}
		}
	case "popAll": // taken back to be edited
		p.st.Queued = slices.DeleteFunc(p.st.Queued, func(q claudeQueued) bool { return !q.Delivered })
	}
	return nil
}

// dequeue tells whether a prompt was delivered from the queue already; if it
// was only waiting there, the wait is over.
func (p *claudePass) dequeue(l claudeLine, typed string) bool {
	for i, q := range p.st.Queued {
		if q.Text == typed && (l.SessionID == "" || q.Session == string(l.SessionID)) {
			p.st.Queued = slices.Delete(p.st.Queued, i, i+1)
			return q.Delivered
		}
	}
	return false
}

func (p *claudePass) deliverOne(i int) error {
	q := &p.st.Queued[i]
	q.Delivered = true
	return p.deliver(claudeLine{SessionID: word(q.Session), At: q.At}, transcript.Message{UID: q.UID, Role: transcript.UserRole, Content: q.Text})
}

// end delivers, of a finished file, the prompts that still wait.
func (p *claudePass) end() error {
	for i := range p.st.Queued {
		if !p.st.Queued[i].Delivered {
			if err := p.deliverOne(i); err != nil {
				return err
			}
		}
	}
	return nil
}
