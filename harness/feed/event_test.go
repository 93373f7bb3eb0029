package feed

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// A frame is a block of server-sent events as a simple client reads it.
type frame struct{ id, event, data string }

// framesOf parses blocks in the same way as the public conformance runner: blocks are separated by
// LF LF, and each block is an event. A block that contains only comments is not an event, and is
// allowed only after the first event.
func framesOf(t testing.TB, text string) (frames []frame, comments int) {
	t.Helper()
	if strings.ContainsRune(text, '\r') {
		t.Fatalf("a CR in %q", text)
	}
	for block := range strings.SplitSeq(strings.TrimSuffix(text, "\n\n"), "\n\n") {
		if strings.HasPrefix(block, ":") && len(frames) > 0 {
			comments++
			continue
		}
		var f frame
		for line := range strings.SplitSeq(block, "\n") {
			name, value, ok := strings.Cut(line, ": ")
			switch {
			case ok && name == "id" && f.id == "":
				f.id = value
			case ok && name == "event" && f.event == "":
				f.event = value
			case ok && name == "data" && f.data == "":
				f.data = value
			default:
				t.Fatalf("the line %q of %q", line, block)
			}
		}
		if f.event == "" || !json.Valid([]byte(f.data)) {
			t.Fatalf("no event: %q", block)
		}
		frames = append(frames, f)
	}
	return frames, comments
}

// TestAppendFrame verifies that a frame consists of three lines and an empty line, each terminated
// by LF.
func TestAppendFrame(t *testing.T) {
	got, err := appendEvent([]byte("x"), Event{ID: "e 1", Kind: "task.completed", JSON: json.RawMessage("{\r\n \"a\": \"\\n\"\n}")})
	if want := "xid: e 1\nevent: task.completed\ndata: {   \"a\": \"\\n\" }\n\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v, expected %q", got, err, want)
	}
	for name, e := range map[string]Event{
		"no id":           {Kind: "k", JSON: json.RawMessage("{}")},
		"an id of lines":  {ID: "a\nb", Kind: "k", JSON: json.RawMessage("{}")},
		"an id with CR":   {ID: "a\rb", Kind: "k", JSON: json.RawMessage("{}")},
		"an id with NUL":  {ID: "a\x00", Kind: "k", JSON: json.RawMessage("{}")},
		"an id of bytes":  {ID: "\xff", Kind: "k", JSON: json.RawMessage("{}")},
		"a long id":       {ID: strings.Repeat("x", 1025), Kind: "k", JSON: json.RawMessage("{}")},
		"no kind":         {ID: "a", JSON: json.RawMessage("{}")},
		"a kind of lines": {ID: "a", Kind: "k\ndata: {}", JSON: json.RawMessage("{}")},
		"no object":       {ID: "a", Kind: "k"},
	} {
		if got, err := appendEvent([]byte("x"), e); err == nil || string(got) != "x" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// FuzzFrame verifies that a frame is parsed as one block containing one event with the expected ID,
// so that no event can inject another event into the stream.
func FuzzFrame(f *testing.F) {
	f.Add("e1", "task.completed", `{"a":1}`)
	f.Add("e1\nevent: x", "k\r", "{\n}")
	f.Add(":", ":", "[]")
	f.Fuzz(func(t *testing.T, id, kind, data string) {
		text, err := appendEvent(nil, Event{ID: id, Kind: kind, JSON: json.RawMessage(data)})
		if err != nil {
			if len(text) > 0 {
				t.Errorf("%q with %v", text, err)
			}
			return
		}
		if json.Valid([]byte(data)) {
			frames, comments := framesOf(t, string(text))
			if len(frames) != 1 || comments > 0 || frames[0].id != id || frames[0].event != kind {
				t.Errorf("%q is read as %+v", text, frames)
			}
		}
		if strings.Count(string(text), "\n") != 4 || strings.ContainsRune(string(text), '\r') {
			t.Errorf("lines of %q", text)
		}
	})
}

// FuzzLastEventID verifies that a value is accepted if and only if it can be the ID of a frame.
func FuzzLastEventID(f *testing.F) {
	for _, seed := range []string{"", "e1", " ", "a\nb", "\x00", "\xff", strings.Repeat("x", 1025), "ü"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		id, err := readLastEventID(http.Header{"Last-Event-Id": {value}})
		_, frameErr := appendEvent(nil, Event{ID: value, Kind: "k", JSON: json.RawMessage("{}")})
		switch {
		case err != nil && (id != "" || codeOf(err) != protocol.CodeInvalid || frameErr == nil):
			t.Errorf("%q: %q, %v", value, id, err)
		case err == nil && (id != value || value != "" && frameErr != nil):
			t.Errorf("%q is accepted as %q", value, id)
		}
	})
}

// codeOf returns the code of an error that is sent as a response, or "" for other errors.
func codeOf(err error) protocol.Code {
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		return e.Code
	}
	return ""
}
