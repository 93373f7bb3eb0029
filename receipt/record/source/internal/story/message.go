package story

import (
	"cmp"
	"math/big"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// Messages contains the answers of the models, and their usage.
type Messages struct {
	Estimated bool // costs are estimates by the agent, not billed amounts

	story  *Story
	list   index[Message]
	sums   []*Sum
	cost   *big.Rat // of all sessions
	unpaid bool     // no line records the cost of a part of the task
}

// A Message is one answer from a model, as described by all lines with its ID.
type Message struct {
	Model, Provider string
	Agent           string // label of the agent; "" for the main agent
	Finished        bool   // a line records why the model stopped, so the counts are final

	story *Story
	usage Usage
	first Place
	told  bool
}

// Message returns the message with the given ID, and reports whether it is new.
func (x *Messages) Message(id string) (m *Message, fresh bool) {
	m, fresh = x.list.entry(x.story, id)
	if fresh {
		m.story, m.first = x.story, x.story.Here()
	}
	return m, fresh
}

// MessageAt is like Message, but for a message at the given place.
func (x *Messages) MessageAt(id string, at Place) *Message {
	m, _ := x.Message(id)
	m.first = at
	return m
}

// Said records a message from a model, and reports whether it is new. The counts are final if the
// number of output tokens is stated.
func (x *Messages) Said(id, model, provider string, u Usage) (fresh bool) {
	s := x.story
	s.Model, s.Provider = cmp.Or(s.Model, model), cmp.Or(s.Provider, provider)
	if id == "" {
		s.Lacks(MessageWithoutID)
		return false
	}
	m, fresh := x.Message(id)
	m.Model, m.Provider, m.Finished = cmp.Or(model, m.Model), cmp.Or(provider, m.Provider), m.Finished || u.Output != nil
	m.Use(u)
	return fresh
}

// Use records the usage of a message according to one line. Lines repeat the usage, and some are
// written before the message is complete, so the line with the most output tokens is used.
func (m *Message) Use(u Usage) {
	// Lines that contradict each other belong to different messages.
	if m.told && u.Differs(m.usage) {
		m.story.Lacks(MessagesOfOneID)
	}
	if !m.told || u.More(m.usage) {
		m.usage, m.told = u, true
	}
}

func (m *Message) members() event.Members {
	use := m.usage
	use.Floor = use.Floor || !m.Finished
	p := use.members()
	p["kind"], p["agent"], p["provider"], p["model"] = "llm", m.Agent, m.Provider, m.Model
	return p
}

// A Sum is the total usage of several model calls, for sources that record nothing more detailed.
type Sum struct {
	Model, Provider string
	Usage
	Cost string // dollars as decimal text, or ""
}

// Took adds the total usage of several calls.
func (x *Messages) Took(sum Sum) {
	x.sums = append(x.sums, &sum)
	x.story.charge(len(x.sums), entryCost)
}

func (x *Sum) members() event.Members {
	p := x.Usage.members()
	p["kind"], p["provider"], p["model"] = "turn", x.Provider, x.Model
	p["apart"] = true // no other span records these calls
	p["cost"] = dollars(x.Cost)
	return p
}

// A Usage contains the token counts of a model call. A count is nil if it is not stated.
type Usage struct {
	Input, Output *int64 // all tokens that the model read and wrote

	// CacheRead and CacheWrite count the input tokens that were read from a cache and written to a
	// cache. Reasoning counts the output tokens that were used for reasoning.
	CacheRead, CacheWrite, Reasoning *int64

	InputFloor, Floor bool // the input is a lower bound; the output is a lower bound
	Apart             bool // Input is the sum of uncached input, CacheRead, and CacheWrite
}

// Apart returns the usage for a source that reports three separate numbers: uncached input tokens,
// tokens read from a cache, and tokens written to a cache. If the uncached input is unknown, the
// sum is a lower bound.
func Apart(fresh, read, written, output *int64) Usage {
	u := Usage{Apart: true, CacheRead: read, CacheWrite: written, Output: output, InputFloor: fresh == nil}

	// Missing parts do not contribute to the sum.
	for _, n := range []*int64{fresh, read, written} {
		if n == nil {
			continue
		}
		if u.Input == nil {
			u.Input = new(int64)
		}
		*u.Input += *n
	}

	return u
}

// ApartOf is like Apart, but reads the counts from JSON values. If a part of the input is present
// but not a count, the input is a lower bound.
func ApartOf(fresh, read, written, output canon.Node) Usage {
	u := Apart(Count(fresh), Count(read), Count(written), Count(output))
	u.InputFloor = u.InputFloor || strange(read) || strange(written)
	return u
}

// strange reports whether a member is present but not a count.
func strange(n canon.Node) bool { return !event.Absent(n) && Count(n) == nil }

// Plus adds a part of the output that the source records separately. If the part is not a count,
// the output is a lower bound.
func (u *Usage) Plus(part canon.Node) {
	n := Count(part)
	if u.Floor = u.Floor || n == nil; u.Output != nil && n != nil {
		*u.Output += *n
	}
}

// Told reports whether the input or the output is stated.
func (u Usage) Told() bool { return u.Input != nil || u.Output != nil }

// More reports whether u is more complete than the usage in another line of the same message.
func (u Usage) More(than Usage) bool {
	switch {
	case u.Output == nil:
		return than.Output == nil && than.Input == nil
	case than.Output == nil:
		return true
	}

	return *u.Output > *than.Output
}

// Differs reports whether two lines cannot belong to the same message. While a message is being
// written, its token counts increase, but its cache counts do not change.
func (u Usage) Differs(from Usage) bool {
	differ := func(a, b *int64) bool { return a != nil && b != nil && *a != *b }
	less := func(a, b *int64) bool { return a != nil && b != nil && *a < *b }
	return differ(u.CacheRead, from.CacheRead) || differ(u.CacheWrite, from.CacheWrite) ||
		less(u.Input, from.Input) && !less(u.Output, from.Output) || less(from.Input, u.Input) && !less(from.Output, u.Output)
}

// complete marks the input as a lower bound if it lacks a part that the usage of other calls
// contains.
func (u *Usage) complete(others Usage) {
	u.InputFloor = u.InputFloor || u.Apart && (u.CacheRead == nil && others.CacheRead != nil || u.CacheWrite == nil && others.CacheWrite != nil)
}

// members returns the counts, and lists the counts that are lower bounds. A part of a lower bound
// is also a lower bound. An unknown input or output is missing from every sum, so it is also
// listed.
func (u Usage) members() event.Members {
	p := event.Members{}
	var atLeast []string
	for _, x := range []struct {
		name         string
		n            *int64
		floor, whole bool
	}{
		{"input_tokens", u.Input, u.InputFloor, true}, {"cache_read_input_tokens", u.CacheRead, u.InputFloor, false}, {"cache_creation_input_tokens", u.CacheWrite, u.InputFloor, false},
		{"output_tokens", u.Output, u.Floor, true}, {"reasoning_output_tokens", u.Reasoning, u.Floor, false},
	} {
		p[x.name] = x.n

		// A missing count is a lower bound of zero.
		if x.floor && x.n != nil || x.whole && x.n == nil {
			atLeast = append(atLeast, x.name)
		}
	}
	p["at_least"] = atLeast
	return p
}

// complete compares the parts of the input that lines record. Some lines may lack a part that other
// lines record.
func (x *Messages) complete() {
	var all []*Usage
	var stated Usage

	// A sum may also lack a part that a message contains.
	for _, m := range x.list.Order {
		all = append(all, &m.usage)
	}

	for _, sum := range x.sums {
		all = append(all, &sum.Usage)
	}

	for _, u := range all {
		stated.CacheRead, stated.CacheWrite = cmp.Or(stated.CacheRead, u.CacheRead), cmp.Or(stated.CacheWrite, u.CacheWrite)
	}

	for _, u := range all {
		u.complete(stated)
	}
}

// Cost adds the total cost of a session in dollars, given as decimal text. Decimals are added
// exactly, so the sum of 0.1 and 0.2 is 0.3.
func (x *Messages) Cost(amount string) {
	n, ok := new(big.Rat).SetString(amount)
	if !ok {
		return
	}
	if x.cost == nil {
		x.cost = new(big.Rat)
	}
	x.cost.Add(x.cost, n)
	x.balance()
}

// Unpaid records that no line specifies the cost of a part of the task.
func (x *Messages) Unpaid() {
	x.unpaid = true
	x.balance()
}

// Pays adds the cost of a model call in dollars. If n is not a valid amount, Pays acts
// like Unpaid.
func (x *Messages) Pays(n canon.Node) {
	if amount := AmountOf(n); amount != "" {
		x.Cost(amount)
		return
	}
	x.Unpaid()
}

// balance marks the cost as a lower bound if only a part of it is stated.
func (x *Messages) balance() {
	if x.cost != nil && x.unpaid {
		x.story.Lacks(CostInPart)
	}
}

// account returns the total cost of all sessions, or "" if no line records a cost.
func (x *Messages) account() string {
	if x.cost == nil {
		return ""
	}
	return strings.TrimSuffix(strings.TrimRight(x.cost.FloatString(maxDecimals), "0"), ".")
}

// Maximum number of decimal places in a logged amount, and in a sum of such amounts.
const (
	maxTold     = 30
	maxDecimals = 36
)

// maxAmount is the largest accepted amount, in dollars.
const maxAmount = 1e12

// Amount formats an amount in dollars as the shortest decimal text that represents the same number.
// It returns "" if f is not a valid amount.
func Amount(f float64) string {
	// NaN satisfies neither condition.
	if !(f >= 0 && f <= maxAmount) {
		return ""
	}

	// A real amount has at most maxTold decimal places, but a float64 can have more.
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if _, fraction, _ := strings.Cut(text, "."); len(fraction) > maxTold {
		return ""
	}

	return text
}

// AmountOf is like Amount, but for a JSON value. It returns "" if n is not a number.
func AmountOf(n canon.Node) string {
	if n.Kind() != canon.KindNumber {
		return ""
	}
	return Amount(n.Float())
}

// dollars returns the member for an amount, or nil if the amount is not stated.
func dollars(amount string) any {
	if amount == "" {
		return nil
	}
	return event.Members{"amount": amount, "currency": "USD"}
}
