package others

import (
	"cmp"
	"maps"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// usage collects the token usage of all models. A process records its usage when it ends. Messages
// contain only their output tokens.
type usage struct {
	shutdowns []*shutdown
	messages  map[string]*message
	records   map[string]story.Sum // usage of single model calls, by event; since version 1.0.102
	open      bool                 // a model answered after the last shutdown
	lost      bool                 // a process ended without a shutdown
}

// A shutdown is the usage of a process, as recorded when the process ended.
type shutdown struct {
	started string // the time at which the process started
	models  []story.Sum
	silent  bool // the usage of a model is missing
}

// A message is an answer from a model, without its text.
type message struct {
	model  string
	output *int64
	at     story.Place
}

// said reads the usage of a message.
func (u *usage) said(s *story.Story, data canon.Node) {
	id := s.Name(data.Member("messageId"))
	if id == "" {
		s.Lacks(story.MessageWithoutID)
		return
	}
	if m := u.messages[id]; m == nil {
		u.open = true
		u.messages[id] = &message{s.Name(data.Member("model")), story.Count(data.Member("outputTokens")), s.Here()}
		s.Keep(len(id))
	}
}

// record reads the usage of one model call.
func (u *usage) record(s *story.Story, id string, n canon.Node) {
	told, counted := modelUsage(n)
	if id == "" || !counted {
		return
	}
	if u.records == nil {
		u.records = map[string]story.Sum{}
	}
	u.records[id] = story.Sum{Model: s.Name(n.Member("model")), Usage: told}
	s.Keep(len(id))
}

// shutDown reads the end of a process. If several lines record the end of a process, the last line
// is used.
func (u *usage) shutDown(s *story.Story, data canon.Node) {
	u.open = false
	now := &shutdown{started: string(data.Member("sessionStartTime").Raw())}
	u.shutdowns = append(slices.DeleteFunc(u.shutdowns, func(x *shutdown) bool { return x.started == now.started }), now)

	for name, n := range data.Member("modelMetrics").Members() {
		model := s.Name(name)
		told, counted := modelUsage(n.Member("usage"))
		if now.silent = now.silent || !counted; counted {
			now.models = append(now.models, story.Sum{Model: model, Usage: told})
		}
		s.Model = cmp.Or(s.Model, model)
		s.Keep(len(model))
	}

	// The line also lists the files that changed.
	for _, file := range data.Member("codeChanges").Member("filesModified").Elements() {
		s.Changed(s.Name(file))
	}
}

// resumed records that another process continues the session.
func (u *usage) resumed() { u.lost = u.lost || u.open }

// modelUsage reads the usage of a model. If all members are zero, the usage was not counted.
func modelUsage(n canon.Node) (u story.Usage, told bool) {
	count := func(name string) *int64 {
		x := story.Count(n.Member(name))
		told = told || x != nil && *x > 0
		return x
	}
	u = story.Usage{
		Input: count("inputTokens"), CacheRead: count("cacheReadTokens"), CacheWrite: count("cacheWriteTokens"),
		Output: count("outputTokens"), Reasoning: count("reasoningTokens"),
	}
	return u, told
}

// tell records the usage that the processes recorded. If a process did not record its usage, the
// usage of the individual calls is recorded instead. Older versions do not list calls. If their
// processes did not record any usage either, only the output tokens of the messages are recorded.
func (u *usage) tell(s *story.Story) {
	part, sums := u.open || u.lost, []story.Sum(nil)
	for _, x := range u.shutdowns {
		part, sums = part || x.silent, append(sums, x.models...)
	}

	if (part || len(sums) == 0) && len(u.records) > 0 && len(u.records) >= len(u.messages) {
		part, sums = true, nil
		for _, id := range slices.Sorted(maps.Keys(u.records)) {
			sums = append(sums, u.records[id])
		}
	}

	for _, sum := range sums {
		sum.InputFloor, sum.Floor = part, part
		s.Took(sum)
	}
	if len(sums) > 0 {
		return
	}

	for id, m := range u.messages {
		told := s.MessageAt(id, m.at)
		told.Model = m.model
		told.Use(story.Usage{Output: m.output})
	}
}
