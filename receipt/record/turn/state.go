package turn

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A state is the state of the turn according to its events.
type state struct {
	replies   int  // the highest number of a reply
	submitted bool // the task was submitted
	sent      bool // the message was sent

	asked, waiting question       // the last question, and the question that suspends the turn
	questions      map[string]int // how often each signal was requested
	given          map[string]bool
}

// A question is answered by a signal. The ID of its approval is the ID of the signal, with a number
// if the turn waited for that signal before.
type question struct {
	signal, approval string
	metadata         canon.Digest // zero if there is none
}

// reply is the prefix of the IDs of added messages.
const reply = "reply_"

// note applies an event. The strings of the event, and a limit error, are stored in e.
func (s *state) note(e *event.Event, root canon.Node) {
	p := root.Member("payload")
	switch root.Member("event").String() {
	case "task.submitted":
		s.submitted = true
	case "user.message":
		s.sent = true
	case "artifact.created", "artifact.updated", "artifact.linked", "artifact.redacted":
		s.number(p.Member("artifact_id").String())
	case "tool.approval_required":
		s.ask(e, p)
	case "user.tool_confirmation", "tool.approved", "tool.denied":
		s.answer(cmp.Or(p.Member("approval_id").String(), p.Member("request_id").String()))

	// A turn waits for the last question before its suspension, until it starts again.
	case "task.input_required":
		s.waiting = s.asked
	case "task.started":
		s.waiting = question{}
	}
}

// number records the number of a reply, so that it is not used again.
func (s *state) number(id string) {
	digits, ok := strings.CutPrefix(id, reply)
	if n, err := strconv.Atoi(digits); ok && err == nil && n <= event.MaxEntries {
		s.replies = max(s.replies, n)
	}
}

// ask records a question.
func (s *state) ask(e *event.Event, p canon.Node) {
	id, request := p.Member("approval_id").String(), p.Member("request_id").String()
	approval, signal := e.Once([]byte(cmp.Or(id, request))), e.Once([]byte(cmp.Or(request, id)))

	// The metadata is the input of the approval.
	s.asked = question{signal: signal, approval: approval}
	if input := p.Member("input"); !event.Absent(input) {
		s.asked.metadata = event.HashOf(input)
	}

	if s.given == nil {
		s.questions, s.given = map[string]int{}, map[string]bool{}
	}
	s.questions[signal]++
	s.given[approval] = true
	e.Kept.Charge(e, canon.Node{}, 2*event.PartCost)
}

// answer records that a question was answered.
func (s *state) answer(approval string) {
	for _, q := range []*question{&s.asked, &s.waiting} {
		if q.approval == approval {
			*q = question{}
		}
	}
}

// approval returns an unused approval ID for a signal.
func (s *state) approval(signal string) string {
	id := signal

	// A number may be taken, because a signal may have any ID.
	for n := max(s.questions[signal]+1, 2); s.given[id]; n++ {
		id = signal + "#" + strconv.Itoa(n)
	}
	return id
}
