package bridge

import (
	"fmt"
	"io"
	"strings"
)

// WritePage writes what docs/record.md says of frames.
func WritePage(w io.Writer) {
	fmt.Fprint(w, `
## Frames

A line of a log of frames is one of

    {"at": "2026-04-25T19:17:02Z", "from": "client", "frame": {"jsonrpc": "2.0", …}}
    {"jsonrpc": "2.0", …}
    {"at": "2026-04-25T19:17:04Z", "event": "span.completed", "payload": {…}}

The second passed when the line before it did. The third is for what no frame tells, such
as what a model cost. A line with both a frame and an event is refused. Members of the runtime's own are read under `+"`_meta.harn`"+`, else where
older dialects had them.

A program that writes such a log writes each frame before it acts on it, in the order in which
the frames passed. It refuses a line that is not a JSON-RPC message, a message that only the other
side may send, a request whose id an open request has, and a message that does not fit into a line
of a log, and writes none of these. It does write an answer that comes after the request was given
up. It makes a call only if the table of answers below reads the answer as an approval, as a
recording does. If updates report a call of a host's tool, too, both are one call when
`+"`builtin_call`"+` has the call's id as `+"`_meta.harn.toolCallId`"+`.

A frame without an event, below, is known to be harmless. A frame of a type that the table does not
have, or a block of the content of a call that is not `+"`content`, `diff`, or `terminal`"+`, may state an
action. The same applies to a call whose kind only reads and whose content has a diff or a terminal, to
an approved call that no other frame states, and to a call that only a frame without an event names.
Such frames are recorded together, by type, before the end of the task.

| frame | event | rule |
|---|---|---|
`)
	for _, k := range frameKinds() {
		event := k.Event
		if event == "" {
			event = "–"
		}
		fmt.Fprintf(w, "| `%s` | %s | %s |\n", k.Frame, escaped(event), escaped(k.Rule))
	}
	writeOutcomes(w)
}

func writeOutcomes(w io.Writer) {
	fmt.Fprint(w, "\n## Answers to a request for permission\n\nThe first line that fits decides. What fits none is denied.\n\n| answer | when | decision |\n|---|---|---|\n")
	for _, o := range outcomes() {
		fmt.Fprintf(w, "| `%s` | %s | %s |\n", o.Answer, escaped(o.When), o.Decision)
	}
}

// WriteWords writes the words of frames, for docs/record.md.
func WriteWords(w io.Writer) {
	fmt.Fprint(w, "\n| event of a worker | status |\n|---|---|\n")

	for _, e := range workerEvents() {
		fmt.Fprintf(w, "| `%s` | `%s` |\n", e.Event, e.Status)
	}
	fmt.Fprint(w, "\n## Why a prompt stopped\n\nAny other reason, and an error: `task.failed`.\n\n| stopReason | event |\n|---|---|\n")

	for _, s := range stopReasons() {
		fmt.Fprintf(w, "| `%s` | `%s` |\n", s.Reason, s.Event)
	}

	fmt.Fprint(w, "\nIf the result has `_meta.harn.terminal`, its `kind` decides: `natural` leaves the event of the stopReason. Any other kind: `task.failed`.\n\n| terminal | event |\n|---|---|\n")
	for _, s := range terminals() {
		fmt.Fprintf(w, "| `%s` | `%s` |\n", s.Reason, s.Event)
	}
}

func escaped(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
