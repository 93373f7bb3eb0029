package protocol

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"
)

// lastEventID is the header by which a client says which event it had last.
const lastEventID = "Last-Event-ID"

// An Event is one of a log, as a harness keeps it.
type Event struct {
	ID   string          // the member id, and the cursor: no other event of the log has it
	Kind string          // the member event, such as task.completed
	JSON json.RawMessage // the protocol's Event object
}

// appendEvent appends the frame of server-sent events that an event is: its id, its kind, and
// its object on one line, each line ended by LF, and an empty line. A line end in the JSON
// text can only stand between its tokens, and becomes a space. The error says that id or kind
// cannot be in a line, or that there is no object; what it returns then is dst.
func appendEvent(dst []byte, e Event) ([]byte, error) {
	switch {
	case !isLine(e.ID):
		return dst, fmt.Errorf("protocol: the id of an event is no line of text: %.80q", e.ID)
	case !isLine(e.Kind):
		return dst, fmt.Errorf("protocol: the kind of the event %.80q is no line of text: %.80q", e.ID, e.Kind)
	case len(e.JSON) == 0:
		return dst, fmt.Errorf("protocol: the event %.80q has no object", e.ID)
	}
	return appendFrame(dst, e.ID, e.Kind, e.JSON), nil
}

func appendFrame(dst []byte, id, kind string, data []byte) []byte {
	if id != "" {
		dst = append(append(append(dst, "id: "...), id...), '\n')
	}
	dst = append(append(append(dst, "event: "...), kind...), "\ndata: "...)
	begin := len(dst)
	dst = append(dst, data...)
	for i, b := range dst[begin:] {
		if b == '\n' || b == '\r' {
			dst[begin+i] = ' '
		}
	}
	return append(dst, "\n\n"...)
}

// isLine reports whether a text can be the value of a line of a frame: readers drop an id with
// a NUL, and end a line at CR as at LF.
func isLine(text string) bool {
	return text != "" && len(text) <= MaxID && utf8.ValidString(text) && !strings.ContainsAny(text, "\x00\r\n")
}

// readLastEventID returns which event a client had last; "" for none. The error is an *[Error]:
// the header is there several times, or no event has such an id.
func readLastEventID(h http.Header) (string, error) {
	list := h.Values(lastEventID)
	switch {
	case len(list) == 0 || len(list) == 1 && list[0] == "":
		return "", nil
	case len(list) > 1:
		return "", Invalid(lastEventID, "expected one %s, found %d", lastEventID, len(list))
	case !isLine(list[0]):
		return "", Invalid(lastEventID, "expected the id of an event as %s: text of at most %d bytes", lastEventID, MaxID)
	}
	return list[0], nil
}
