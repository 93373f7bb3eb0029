package source

import (
	"bytes"
	"encoding/gob"
	"errors"
	"time"

	"github.com/receiptkit/receiptkit/canon"
)

// A keptOutline is an outline as it is written: columns, which are small.
type keptOutline struct {
	Name, Session, Parent   string
	Kind                    Kind
	Bytes                   int64
	Digest, Head            canon.Digest
	Cut, Whole, Over, Main  bool
	First, Last, Begun      time.Time
	Agents                  []string
	Lengths, Seconds, Nanos []int64 // of each line
	Keys, What              []byte
	BeginLines, CallLines   []int
	BeginIDs                []string
	Calls                   []byte
	Answers                 []bool
}

// EncodeOutline returns an outline in a form that [DecodeOutline] of the same version reads.
func EncodeOutline(o *Outline) ([]byte, error) {
	k := keptOutline{
		Name: o.Name, Session: o.Session, Parent: o.parent, Kind: o.Kind, Bytes: o.Bytes, Digest: o.Digest, Head: o.head,
		Cut: o.Cut, Whole: o.whole, Over: o.over, Main: o.main, First: o.first, Last: o.last, Begun: o.begun, Agents: o.agents,
	}
	from := int64(0)
	for _, m := range o.lines {
		k.Lengths, from = append(k.Lengths, m.end-from), m.end
		k.Seconds, k.Nanos = append(k.Seconds, m.at.Unix()), append(k.Nanos, int64(m.at.Nanosecond()))
		k.Keys, k.What = append(k.Keys, m.key[:]...), append(k.What, byte(m.what))
	}
	for _, b := range o.begins {
		k.BeginLines, k.BeginIDs = append(k.BeginLines, b.line), append(k.BeginIDs, b.id)
	}
	for _, c := range o.calls {
		k.CallLines, k.Calls, k.Answers = append(k.CallLines, c.line), append(k.Calls, c.call[:]...), append(k.Answers, c.answer)
	}

	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(&k)
	return b.Bytes(), err
}

// DecodeOutline reads what [EncodeOutline] returned.
func DecodeOutline(text []byte) (*Outline, error) {
	var k keptOutline
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&k); err != nil {
		return nil, err
	}
	n, calls := len(k.Lengths), len(k.CallLines)
	if len(k.Seconds) != n || len(k.Nanos) != n || len(k.What) != n || len(k.Keys) != n*len(key{}) ||
		len(k.BeginIDs) != len(k.BeginLines) || len(k.Answers) != calls || len(k.Calls) != calls*len(key{}) {
		return nil, errors.New("source: the columns of an outline differ in length")
	}

	o := &Outline{
		Name: k.Name, Session: k.Session, parent: k.Parent, Kind: k.Kind, Bytes: k.Bytes, Digest: k.Digest, head: k.Head,
		Cut: k.Cut, whole: k.Whole, over: k.Over, main: k.Main, first: k.First, last: k.Last, begun: k.Begun, agents: k.Agents,
	}
	end := int64(0)
	for i := range n {
		end += k.Lengths[i]
		m := mark{end: end, at: time.Unix(k.Seconds[i], k.Nanos[i]).UTC(), what: what(k.What[i])}
		copy(m.key[:], k.Keys[i*len(m.key):])
		o.lines = append(o.lines, m)
	}
	for i, line := range k.BeginLines {
		if line < 0 || line >= n {
			return nil, errors.New("source: an outline has no such line")
		}
		o.begins = append(o.begins, beginning{line, k.BeginIDs[i]})
	}
	for i, line := range k.CallLines {
		if line < 0 || line >= n {
			return nil, errors.New("source: an outline has no such line")
		}
		r := reference{line: line, answer: k.Answers[i]}
		copy(r.call[:], k.Calls[i*len(r.call):])
		o.calls = append(o.calls, r)
	}
	return o, nil
}
