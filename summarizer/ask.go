package summarizer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hermes-mcp/hermes-mcp/summarizer/endpoint"
)

// A request is one question to the model, in nobody's format.
type request struct {
	system, user string
	maxTokens    int
	tool         *tool // the only one on offer
}

// A tool is what the model may call.
type tool struct {
	name, description string
	schema            json.RawMessage
}

// A reply is what came back.
type reply struct {
	text    string
	calls   []json.RawMessage // the arguments of each call of the tool
	refused string            // why the model declined
	cut     bool              // it ran into maxTokens
	in, out int64             // tokens, 0 when not told
	dollars float64           // 0 when not told
}

const (
	attempts = 3
	// charsPerToken is low, so that estimates err on the side of too many.
	charsPerToken = 3
)

func (t Task) cost(in, out int64) endpoint.Cost {
	return endpoint.Cost{In: in, Out: out, Dollars: (float64(in)*t.InputPrice + float64(out)*t.OutputPrice) / 1e6}
}

// task bounds ctx by the task's timeout.
func (c *Client) task(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, c.timeout(), ErrTimeout)
}

// ask sends one request, again where that may help and ctx leaves the time.
// ctx comes from task.
func (c *Client) ask(ctx context.Context, r request) (reply, error) {
	var err error
	for try := range attempts {
		if try > 0 {
			if !endpoint.Pause(ctx, endpoint.WaitFor(err, try)) {
				return reply{}, c.because(ctx, err)
			}
		}
		var out reply
		if out, err = c.once(ctx, r); err == nil {
			return out, nil
		}
		if !endpoint.WorthAgain(err) || errors.Is(err, ErrRefused) || ctx.Err() != nil {
			break
		}
	}
	return reply{}, c.because(ctx, err)
}

// because puts the task's end before what it caused.
func (c *Client) because(ctx context.Context, err error) error {
	switch {
	case ctx.Err() == nil:
		return err
	case errors.Is(context.Cause(ctx), ErrTimeout):
		return fmt.Errorf("%w (%s)", ErrTimeout, c.timeout())
	}
	return ctx.Err()
}

// once makes one call, if the account lets it.
func (c *Client) once(ctx context.Context, r request) (reply, error) {
	guess := int64((len(r.system)+len(r.user))/charsPerToken + 1)
	call := endpoint.Call{Task: c.Name, Endpoint: c.Endpoint(), Most: c.cost(guess, int64(r.maxTokens))}
	if err := c.Account.Admit(ctx, call); err != nil {
		return reply{}, err
	}
	out, err := c.call(ctx, r)
	used := c.cost(out.in, out.out)
	if err == nil && out.in+out.out == 0 { // not told: the guess stands, so that a budget stops in any case
		used = c.cost(guess, int64(len(out.text)/charsPerToken+1))
	}
	if out.dollars > 0 {
		used.Dollars = out.dollars
	}
	failed := err
	if errors.Is(err, ErrRefused) {
		failed = nil // the endpoint works
	}
	neutral := ctx.Err() != nil && !errors.Is(context.Cause(ctx), ErrTimeout) // the caller went away
	neutral = neutral || endpoint.AboutRequest(err)
	return out, errors.Join(err, c.Account.Settle(ctx, call, used, failed, neutral))
}

// call is one exchange over HTTP.
func (c *Client) call(ctx context.Context, r request) (out reply, err error) {
	switch c.Provider {
	case OpenAI:
		out, err = c.chat(ctx, r)
	case Anthropic:
		out, err = c.messages(ctx, r)
	default:
		return out, fmt.Errorf("provider %q is neither %s nor %s", c.Provider, OpenAI, Anthropic)
	}
	switch {
	case err != nil:
		return out, err
	case out.refused != "":
		return out, fmt.Errorf("%w: %s", ErrRefused, clip(out.refused, 200))
	case out.text == "" && len(out.calls) == 0 && r.tool == nil:
		return out, fmt.Errorf("%w: it is empty", ErrAnswer)
	}
	return out, nil
}
