package core

import (
	"bytes"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// A Target is a place of a receipt where one byte can be changed so that a
// receipt of the same form remains, which says something else.
type Target struct {
	Pointer string `json:"pointer"` // RFC 6901
	Label   string `json:"label"`   // for a person
	Before  string `json:"before"`  // the value as it is spelled
	After   string `json:"after"`
	Offset  int    `json:"offset"` // of the byte in the source, from 0
}

// places are what people would like to change, the most telling first.
func places() []Target {
	return []Target{
		{Pointer: "/cost/total", Label: "the cost"},
		{Pointer: "/approvals/0/actor", Label: "who approved"},
		{Pointer: "/side_effects/fs_writes/0/path", Label: "the file that was changed"},
		{Pointer: "/side_effects/network_egress/0/bytes_sent", Label: "how much was sent"},
		{Pointer: "/model_route/chosen_model/model", Label: "the model"},
		{Pointer: "/identifiers/task_id", Label: "the task"},
		{Pointer: "/issuer/id", Label: "the issuer"},
		{Pointer: "/receipt_id", Label: "the id of the receipt"},
	}
}

// targets returns the places that doc has.
func targets(doc *canon.Document) []Target {
	list := []Target{}
	for _, t := range places() {
		p, err := canon.ParsePointer(t.Pointer)
		if err != nil {
			continue
		}

		n, ok := doc.Find(p)
		if !ok {
			continue
		}

		raw := n.Raw()
		at := changeable(n)
		if at < 0 {
			continue
		}

		changed := bytes.Clone(raw)
		changed[at] = other(changed[at])
		t.Before, t.After, t.Offset = cut(raw), cut(changed), n.Offset()+at
		list = append(list, t)
	}

	return list
}

// changeable returns the place of the last byte of a value that can be another
// one: a digit, or a letter of a string without escapes; -1 for none.
func changeable(n canon.Node) int {
	raw := n.Raw()
	switch n.Kind() {
	case canon.KindNumber:
		if len(raw) > 0 && isDigit(raw[len(raw)-1]) {
			return len(raw) - 1
		}
	case canon.KindString:
		if bytes.IndexByte(raw, '\\') >= 0 {
			return -1
		}
		return bytes.LastIndexFunc(raw, func(r rune) bool { return r < 0x80 && (isDigit(byte(r)) || isLetter(byte(r))) })
	}
	return -1
}

// other returns another digit for a digit and another letter for a letter.
func other(c byte) byte {
	switch c {
	case '9', 'z', 'Z':
		return c - 1
	}
	return c + 1
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// cut shortens a value for display.
func cut(raw []byte) string {
	const most = 120
	if runes := []rune(string(raw)); len(runes) > most {
		return "…" + string(runes[len(runes)-most:])
	}
	return string(raw)
}

// Tamper returns a copy of a receipt's text with one byte changed at one of its
// targets.
func Tamper(source []byte, pointer string) ([]byte, Target, error) {
	doc := new(canon.Document)
	if err := doc.Parse(source, canon.Limits{Bytes: receipt.MaxBytes}); err != nil {
		return nil, Target{}, err
	}
	for _, t := range targets(doc) {
		if t.Pointer == pointer {
			copied := bytes.Clone(source)
			copied[t.Offset] = other(copied[t.Offset])
			return copied, t, nil
		}
	}
	return nil, Target{}, fmt.Errorf("nothing at %.80q can be changed by one byte", pointer)
}
