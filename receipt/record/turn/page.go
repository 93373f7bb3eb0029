package turn

import (
	"fmt"
	"io"
	"strings"
)

// page has ~ where the page has `.
const page = `
## Chats

A turn of a chat is a task: its id is the invocation's, its session the chat's. Of each part
a ~record.Turn~ makes these events, and a recorder gets them. Each has the time that the
harness gives with it.

| in the turn | events |
|---|---|
| ~Send~: a message is sent | ~task.submitted~, unless an event told it; ~user.message~ |
| ~Begin~: the graph is entered, and again after a signal | ~task.started~ |
| ~Message~: one is added, of any role | ~artifact.created~ (~reply_1~ and so on, kind ~message~, its ~sha256~) |
| … by the assistant | ~agent.message~ before it, ~agent.tool_use~ for each call |
| … of a tool | ~agent.tool_result~ before it, with the status ~unreported~: no message tells how a call ended |
| ~Suspend~ | ~tool.approval_required~ (~approval_id~: the signal's id; ~action~: that of the metadata; ~input~: the metadata), ~task.input_required~ |
| ~Signal~ | ~user.input_submitted~, ~user.tool_confirmation~ with ~decision~, ~approved~ and ~accepted~ of the payload, each when it is there |
| ~Complete~ | ~task.completed~ |
| ~Fail~ | ~task.failed~ with ~failure~ ~{code, message}~: category and bucket |
| ~Event~: what no message tells, such as what a model cost, or how a call ended | the event itself |

A suspended turn has no receipt yet: one receipt spans both parts, and what was waited is in
its time. The first signal of the id decides, and a later one is refused and changes nothing.
A turn that waits for the same signal again asks again: its approval is ~ID#2~. Who gave a
signal is what the harness knows of it, never what the payload says; a payload without a
decision is no approval, and ~/approvals/N/decision~ is unreported. Who acts on a signal acts
on ~Signal.Decision~, which reads what the receipt will say: another reader may find another
decision in the same bytes, such as the last of two members of one name. A turn that failed
before the graph was entered never started: ~/lifecycle/started_at~ is unreported. A send
that names no session is no turn of any, and has no receipt.

Digests of messages are the SHA-256 of their RFC 8785 form; ~message_sha256~ of a message
that is no strict JSON is that of its bytes. ~content_sha256~ is [what is said](#what-is-said),
so that a text and the one block of it are the same. A diagnostic is in no event: it may
quote what nobody should read.

A process that ends loses no turn: ~record.ResumeTurn~ goes on from the events that
~Options.Keep~ got, and the draft is the same, byte for byte. A part of which only some
events were kept is done again: nothing is asked or added twice by that.
[harness/cmd/chat](../harness/cmd/chat) is a small chat that does so: sends, signals, listeners,
one turn of a session at a time.

A category has one bucket. One that is not here is ~retryable_transient~ when it passes by
itself, else ~user_correctable~: the session stays usable.

| category | bucket |
|---|---|
`

// WritePage writes what docs/record.md says of turns.
func WritePage(w io.Writer) {
	fmt.Fprint(w, strings.ReplaceAll(page, "~", "`"))
	for _, c := range Categories() {
		fmt.Fprintf(w, "| `%s` | `%s` |\n", c.Name, c.Bucket)
	}
}
