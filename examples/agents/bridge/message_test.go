package bridge

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	frames "github.com/receiptkit/receiptkit/receipt/record/bridge"
	"github.com/receiptkit/receiptkit/receipt/record/event"
)

// TestRoom: a message that is taken fits into a line of a log, however long, deep or full
// of values it is.
func TestRoom(t *testing.T) {
	const before, after = `{"jsonrpc":"2.0","method":"x","params":{"a":`, `}}`
	around := func(begin, one string, n int, end string) []byte {
		line := append(make([]byte, 0, len(before)+len(begin)+n*len(one)+len(end)+len(after)), before+begin...)
		for range n {
			line = append(line, one...)
		}
		return append(line, end+after...)
	}
	nested := func(depth int) []byte { return around("", "[", depth, strings.Repeat("]", depth)) }
	values := func(n int) []byte { return around("[", "0,", n-1, "0]") }
	long := func(n int) []byte { return around(`"`, "x", n-len(before+`""`+after), `"`) }
	for name, test := range map[string]struct {
		line  []byte
		taken bool
	}{
		"deep":      {nested(canon.MaxDepth - 3), true},
		"too deep":  {nested(canon.MaxDepth - 2), false},
		"full":      {values(event.MaxValues - 32), true},
		"too full":  {values(event.MaxValues - 14), false},
		"long":      {long(MaxLine), true},
		"too long":  {long(MaxLine + 1), false},
		"two lines": {[]byte("{\"jsonrpc\":\"2.0\",\n\"method\":\"x\"}"), true}, // never one of lines, but one that is sent
	} {
		m, fault := parse(test.line)
		if (m != nil && fault == nil) != test.taken {
			t.Errorf("%s: %v", name, fault)
		}
		if name == "too long" { // a log may have room for it
			continue
		}
		if err := loggable(test.line); (err == nil) != test.taken {
			t.Errorf("%s: as a line of a log: %v", name, err)
		}
	}
}

// loggable reads a message from the line that a log has of it.
func loggable(line []byte) error {
	var log bytes.Buffer
	log.Grow(len(line) + 128)
	at := time.Date(2026, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
	if err := NewLog(&log).Frame(at, frames.SenderClient, line); err != nil {
		return err
	}
	return event.Parse(new(canon.Document), bytes.TrimSpace(log.Bytes()))
}

// FuzzMessage: what is taken is JSON that a log has room for and that says the same to
// others; what is refused is answered with a message that any peer takes.
func FuzzMessage(f *testing.F) {
	for _, text := range append(nonsense("1"), `{"jsonrpc":"2.0","id":"a","method":"x","params":[1]}`, `{"jsonrpc":"2.0","id":1e2,"result":null}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"\u0000"}}`) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, fault := parse(bytes.Clone(line))
		if fault != nil {
			if _, err := (sending{ID: json.RawMessage("null"), Error: fault}).line(); err != nil {
				t.Fatalf("%v: %v", fault, err)
			}
			return
		}
		var others struct {
			Version string `json:"jsonrpc"`
			Method  string
		}
		if err := json.Unmarshal(line, &others); err != nil || others.Version != "2.0" {
			t.Fatalf("%v, %+v", err, others)
		}
		if m.Method != "" && m.Root.Member("method").String() != m.Method {
			t.Fatalf("%q", m.Method)
		}
		if err := loggable(line); err != nil {
			t.Fatal(err)
		}
		if !m.ID.IsZero() { // the answer has its id
			again, err := sending{ID: m.ID.Raw(), Result: json.RawMessage("null")}.line()
			if err != nil {
				t.Fatal(err)
			}
			if answer, _ := parse(bytes.TrimSpace(again)); answer.key() != m.key() {
				t.Fatalf("%s is answered as %s", m.key(), answer.key())
			}
		}
	})
}
