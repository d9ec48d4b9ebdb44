package resources

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
)

var (
	//go:embed guidance.md
	guidance string
	//go:embed load_memory.md
	loadText string
	//go:embed save_memory.md
	saveText string
	//go:embed recall.md
	recallText string
	//go:embed review_memory.md
	reviewText string
)

// Prompts are load_memory, save_memory, recall and review_memory. What recall
// shows of the archive has its secrets masked.
func Prompts(store *memstore.Store, snapshot SnapshotFunc, archive func(ctx context.Context) (*transcript.DB, error)) []server.ServerPrompt {
	return []server.ServerPrompt{
		prompt(mcp.NewPrompt("load_memory", mcp.WithPromptTitle("Load memory"),
			mcp.WithPromptDescription("Put the long-term memory into this conversation")),
			func(ctx context.Context, _ map[string]string) (string, error) {
				snap, err := snapshot(ctx)
				if err != nil {
					return "", fmt.Errorf("take the snapshot: %w", err)
				}
				changed, err := overlay(ctx, store, snap)
				if err != nil {
					return "", err
				}
				return fill(loadText, "{state}", snap.String()+"\n\n"+changed), nil
			}),
		prompt(mcp.NewPrompt("save_memory", mcp.WithPromptTitle("Save to memory"),
			mcp.WithPromptDescription("Save what this conversation taught before it is lost")),
			func(ctx context.Context, _ map[string]string) (string, error) {
				state, err := live(ctx, store)
				if err != nil {
					return "", err
				}
				return fill(saveText, "{guidance}", strings.TrimSpace(guidance), "{state}", state), nil
			}),
		prompt(mcp.NewPrompt("recall", mcp.WithPromptTitle("Recall a topic"),
			mcp.WithPromptDescription("What past sessions say about a topic"),
			mcp.WithArgument("topic", mcp.ArgumentDescription("words, a question, a file, an error"), mcp.RequiredArgument())),
			func(ctx context.Context, args map[string]string) (string, error) {
				topic := strings.TrimSpace(args["topic"])
				db, err := archive(ctx)
				if err != nil {
					return "", fmt.Errorf("open the archive: %w", err)
				}
				found, err := recalled(ctx, db, topic)
				if err != nil {
					return "", err
				}
				if topic == "" {
					topic = "the most recent work"
				}
				return fill(recallText, "{topic}", plain.Clip(topic, 500), "{found}", found), nil
			}),
		prompt(mcp.NewPrompt("review_memory", mcp.WithPromptTitle("Review memory"),
			mcp.WithPromptDescription("Consolidate the long-term memory and find contradictions")),
			func(ctx context.Context, _ map[string]string) (string, error) {
				state, err := live(ctx, store)
				if err != nil {
					return "", err
				}
				doubts, err := doubtful(ctx, store)
				if err != nil {
					return "", err
				}
				return fill(reviewText, "{doubts}", doubts, "{state}", state), nil
			}),
	}
}

func prompt(p mcp.Prompt, text func(ctx context.Context, args map[string]string) (string, error)) server.ServerPrompt {
	return server.ServerPrompt{
		Prompt: p,
		Handler: func(ctx context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			t, err := text(ctx, req.Params.Arguments)
			if err != nil {
				return nil, err
			}
			return mcp.NewGetPromptResult(p.Description, []mcp.PromptMessage{
				mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(t)),
			}), nil
		},
	}
}

// fill sets places of a text, named in braces, to values: name, value, …
func fill(text string, places ...string) string {
	return strings.NewReplacer(places...).Replace(strings.TrimSpace(text))
}

// recalls is how many sessions the recall prompt names.
const recalls = 5

// recalled lists what a first search finds, or the recent sessions.
func recalled(ctx context.Context, db *transcript.DB, topic string) (string, error) {
	show := plain.Filter{Redact: true}
	var b strings.Builder
	label := func(texts ...string) string {
		if flag := plain.Flag(texts...); flag != "" {
			return " [flagged: " + flag + "]"
		}
		return ""
	}
	list := func(s transcript.Session) {
		fmt.Fprintf(&b, "\n- %s, %s, session_id %s", stamp(s.LastActive), show.Line(s.Title, 120), s.ID)
		if s.Project != "" {
			fmt.Fprintf(&b, ", project %s", show.Line(s.Project, 120))
		}
		b.WriteString(label(s.Title, s.Project) + "\n")
	}
	if topic == "" {
		all, err := db.Recent(ctx, transcript.Query{Limit: recalls})
		if err != nil {
			return "", fmt.Errorf("list the recent sessions: %w", err)
		}
		for _, s := range all {
			list(s)
			preview := show.Line(s.Preview, 240)
			fmt.Fprintf(&b, "  %s%s\n", preview, label(preview))
		}
	} else {
		ans, err := db.Search(ctx, transcript.Query{Text: topic, Limit: recalls})
		if err != nil {
			return "", fmt.Errorf("search: %w", err)
		}
		for _, h := range ans.Hits {
			list(h.Session)
			for _, m := range h.Matches[:min(2, len(h.Matches))] {
				whole, _, _, err := db.Messages(ctx, h.Holder.ID, transcript.Window{Around: m.MessageID})
				if errors.Is(err, transcript.ErrNotFound) {
					continue // forgotten since it was found
				}
				if err != nil {
					return "", fmt.Errorf("load a match: %w", err)
				}
				snippet := show.Snippet(m.Snippet(whole[0]), whole[0].Content, 300)
				fmt.Fprintf(&b, "  %s, message %d: %s%s\n", whole[0].Role, m.MessageID, snippet, label(snippet))
			}
		}
	}
	if b.Len() == 0 {
		return "Nothing was found.", nil
	}
	return strings.TrimSpace(b.String()), nil
}
