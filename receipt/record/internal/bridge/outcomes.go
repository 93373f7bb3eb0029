package bridge

import (
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// An outcome is one possible form of the answer to session/request_permission. The first form that
// matches determines the decision. If no form matches, the answer is a denial. Examples are an
// unknown word, an ID that was not offered or was offered twice, an option that rejects, granted
// set to false, and a missing result.
type outcome struct {
	Answer   string // the form's description, for the documentation
	When     string // a condition on the question or the answer
	Decision string // approved, denied, or canceled

	fits func(*answer) bool
}

// An answer is a response to session/request_permission, with the options that were offered.
type answer struct {
	response canon.Node // JSON-RPC response: id, and result or error
	result   canon.Node
	outcome  canon.Node // result.outcome
	options  canon.Node // the options in the request; an array if options were offered
}

// outcomes returns the forms of answers in all dialects, with a safe interpretation for each form.
// In older dialects, the word "selected" alone is an approval. If options were offered, this word
// is not accepted as an approval.
func outcomes() []outcome {
	return []outcome{
		{`{"error":…}`, "", event.Denied, func(a *answer) bool { return !a.response.Member("error").IsZero() }},
		{`{"result":{"granted":…,"outcome":…}}`, "the answer mixes two dialects", event.Denied, func(a *answer) bool {
			return !a.granted().IsZero() && !a.outcome.IsZero()
		}},
		{`{"result":{"granted":true}}`, "no options were offered; args, if present, replace the arguments", event.Approved, func(a *answer) bool {
			return a.granted().Bool() && !a.offered()
		}},
		{`{"result":{"outcome":"allow"}}`, "no options were offered", event.Approved, func(a *answer) bool { return a.word("allow") && !a.offered() }},
		{`{"result":{"outcome":"selected"}}`, "no options were offered", event.Approved, func(a *answer) bool { return a.word("selected") && !a.offered() }},
		{`{"result":{"outcome":"cancelled"}}`, "", event.Canceled, func(a *answer) bool { return a.word("cancelled") || a.word("canceled") }},
		{`{"result":{"outcome":{"outcome":"selected"}}}`, "no options were offered", event.Approved, func(a *answer) bool {
			return a.inner("selected") && a.optionID().IsZero() && !a.offered()
		}},
		{`{"result":{"outcome":{"outcome":"selected","optionId":ID}}}`, "exactly one offered option has the ID, and its kind starts with allow", event.Approved, func(a *answer) bool {
			return a.inner("selected") && a.allows()
		}},
		{`{"result":{"outcome":{"outcome":"cancelled"}}}`, "without optionId", event.Canceled, func(a *answer) bool {
			return (a.inner("cancelled") || a.inner("canceled")) && a.optionID().IsZero()
		}},
	}
}

func newAnswer(response, options canon.Node) *answer {
	result := response.Member("result")
	return &answer{response, result, result.Member("outcome"), options}
}

// decide returns the decision of the first form that matches, or denied if no form matches.
func (a *answer) decide(table []outcome) string {
	for _, o := range table {
		if o.fits(a) {
			return o.Decision
		}
	}
	return event.Denied
}

func (a *answer) granted() canon.Node  { return a.result.Member("granted") }
func (a *answer) optionID() canon.Node { return a.outcome.Member("optionId") }

// offered reports whether the permission request offered options. A member of the wrong type counts
// as options, because requests in a dialect without options lack this member.
func (a *answer) offered() bool { return !event.Absent(a.options) }

func (a *answer) word(w string) bool {
	return a.outcome.Kind() == canon.KindString && a.outcome.String() == w
}

func (a *answer) inner(w string) bool {
	n := a.outcome.Member("outcome")
	return n.Kind() == canon.KindString && n.String() == w
}

// allows reports whether the chosen option allows the call.
func (a *answer) allows() bool {
	chosen := a.optionID()
	if chosen.Kind() != canon.KindString {
		return false
	}

	// If an ID was offered twice, it may also be the ID of an option that rejects the call.
	found, allowing := 0, 0
	for _, o := range a.options.Elements() {
		id := o.Member("optionId")
		if id.Kind() != canon.KindString || id.String() != chosen.String() {
			continue
		}
		found++
		if strings.HasPrefix(o.Member("kind").String(), "allow") {
			allowing++
		}
	}

	return found == 1 && allowing == 1
}
