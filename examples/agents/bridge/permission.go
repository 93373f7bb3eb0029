package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/receiptkit/receiptkit/canon"
	frames "github.com/receiptkit/receiptkit/receipt/record/bridge"
	"github.com/receiptkit/receiptkit/receipt/record/event"
)

// A Permission is what became of a request for one.
type Permission struct {
	Granted  bool
	Decision string          // approved, denied or canceled
	Args     json.RawMessage // in the place of those that were asked for; nil: those
	Reason   string          // of a denial, as far as one is known
}

// Ask asks the host whether a call may be made: session/request_permission. Only an answer
// that clearly says so lets it. No answer, in time or at all, an error, a method that the
// host has not, and words of which none is sure are denials, and are read by the table by
// which a receipt tells of them.
func Ask(ctx context.Context, host *Peer, request any) Permission {
	answer, err := host.ask(ctx, "session/request_permission", request)
	if err != nil {
		return Permission{Decision: event.Denied, Reason: err.Error()}
	}
	return decided(answer, request)
}

// decided reads the answer by the options that were offered.
func decided(answer *Message, request any) Permission {
	text, err := json.Marshal(request)
	if err != nil {
		return Permission{Decision: event.Denied, Reason: err.Error()}
	}
	asked, err := canon.Parse(text)
	if err != nil {
		return Permission{Decision: event.Denied, Reason: err.Error()}
	}

	decision, args := frames.Decide(answer.Root, asked.Root().Member("options"))
	d := Permission{Granted: decision == event.Approved, Decision: decision}
	switch {
	case !d.Granted:
		d.Reason = event.Shorten(cmp.Or(reasonOf(answer), "host did not grant approval"))
	case !event.Absent(args):
		d.Args = args.AppendCanonical(nil)
	}
	return d
}

func reasonOf(answer *Message) string {
	if fault, is := errors.AsType[*Error](answer.Err()); is {
		return fault.Message
	}
	return answer.Root.Member("result").Member("reason").String()
}
