package bridge

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/event"
)

// MaxFound is how many tools one search finds at most.
const MaxFound = 20

// A Search asks the host which of the tools that were not shown to the model fit a query:
// tool_search/query.
type Search struct {
	Strategy   string   `json:"strategy"` // semantic or host
	Query      string   `json:"query"`
	Candidates []string `json:"candidates"`
}

// Remote reports whether the host is asked. Other strategies are the runtime's own, and the
// host sees nothing of what they look for.
func (s Search) Remote() bool { return s.Strategy == "semantic" || s.Strategy == "host" }

// Found is what the model is told of a search.
type Found struct {
	Names      []string `json:"tool_names"` // candidates, each once, in the order of the host
	Diagnostic string   `json:"diagnostic,omitempty"`

	Unknown int `json:"-"` // names that are no candidate
	LeftOff int `json:"-"` // beyond MaxFound
}

// Find reads the answer to a search. A host that fails finds nothing and ends nothing: the
// model can try other words.
func (s Search) Find(answer *Message, err error) Found {
	found := Found{Names: []string{}}
	if err != nil {
		found.Diagnostic = "the host could not search: " + event.Shorten(cmp.Or(said(err), err.Error()))
		return found
	}
	result := answer.Root.Member("result")
	names := result.Member("tool_names")
	if names.IsZero() {
		result = result.Member("result")
		names = result.Member("tool_names")
	}
	if names.Kind() != canon.KindArray {
		found.Diagnostic = "the host could not search: its answer has no tool_names"
		return found
	}

	for _, name := range texts(names) {
		switch {
		case slices.Contains(found.Names, name):
		case !slices.Contains(s.Candidates, name):
			found.Unknown++
		case len(found.Names) == MaxFound:
			found.LeftOff++
		default:
			found.Names = append(found.Names, name)
		}
	}
	found.Diagnostic = event.Shorten(text(result.Member("diagnostic")))
	return found
}

// said is what the other side said in an error.
func said(err error) string {
	if fault, is := errors.AsType[*Error](err); is {
		return fmt.Sprintf("%s (%d)", event.Quote(fault.Message), fault.Code)
	}
	return ""
}
