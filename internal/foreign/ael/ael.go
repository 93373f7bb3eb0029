// Package ael reads the lines that the recorders of AEL write (Agent Evidence Levels 0.1).
//
//	line          base64url(payload) "." base64url(signature)
//	signed bytes  the payload as stored, which equals its canonical form (RFC 8785)
//	key           the SHA-256 of the public key in hexadecimal digits
//	link          prev, the hexadecimal SHA-256 of the payload before
//
// A single line is sufficient for checks a, b, and w of the specification, and a recorder's file is
// also sufficient for check e. All other checks, and therefore every level, need the manifest of
// the artifact and the files that the manifest names.
package ael

import (
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/foreign/internal/form"
	"github.com/receiptkit/receiptkit/receipt"
)

// Read reads one line of a recorder.
func Read(line []byte) *receipt.Foreign {
	f := &receipt.Foreign{Format: "ael-line"}
	payload, signature, _ := strings.Cut(strings.TrimRight(string(line), "\r\n"), ".")
	text, ok1 := form.URL(payload)
	sig, ok2 := form.URL(signature)
	if !ok1 || !ok2 {
		form.Fail(f, receipt.StepParse, receipt.CodeSyntax, "", "expected base64url without padding, in its one encoding")
		return f
	}
	doc := form.Payload(f, text, "")
	if doc == nil {
		return f
	}
	f.Hash = canon.Sum(text)

	// A single record shows neither which records are missing nor which level the other records
	// support.
	root := doc.Root()
	f.ID = root.Member("run").String()
	f.NotChecked = append(f.NotChecked, receipt.Note{Code: receipt.CodeStatementNotChecked, Detail: "the level, which needs the manifest of the artifact and the files that it names"},
		receipt.Note{Code: receipt.CodeTailNotChecked, Detail: "records after this one"})
	if root.Member("recorder").IsZero() {
		form.Leave(f, receipt.StepSignatures, receipt.CodeUnknownKey, "", "a statement of a counterparty names no key: the manifest of the artifact does")
		return f
	}

	// A different encoding of the same values has a different signature and a different hash.
	if !doc.IsCanonical() {
		form.Fail(f, receipt.StepHash, receipt.CodeHashMismatch, "", "the payload is not in its canonical form")
	}
	if readRecord(f, root) {
		form.Pass(f, receipt.StepSchema)
		readPlace(f, root)
	}
	f.Signatures = []receipt.ForeignSignature{{KeyID: root.Member("key").String(), Algorithm: "EdDSA", Messages: [][]byte{text}, Value: sig, At: form.Time(root.Member("ts"))}}
	return f
}

// readRecord checks the members of a record; only ext is an open object.
func readRecord(f *receipt.Foreign, root canon.Node) bool {
	required, optional := []string{"v", "type", "run", "recorder", "key", "seq", "prev", "ts"}, []string{"ext"}
	switch root.Member("type").String() {
	case "open":
		required, optional = append(required, "hmax", "htol"), append(optional, "cp_nonce")
	case "activity":
		required, optional = append(required, "event"), append(optional, "decision")
	case "close":
		required = append(required, "count", "head")
	}

	// The rules of other versions are unknown.
	if version := root.Member("v"); string(version.Raw()) != "1" {
		form.Leave(f, receipt.StepSchema, receipt.CodeUnsupportedSchema, "/v", "the version is not known")
		return false
	}
	if !form.OneOf(f, root.Member("type"), "open", "activity", "heartbeat", "close") || !form.Members(f, root, required, optional) ||
		!form.Strings(f, root, "run", "recorder", "key", "prev", "ts") || !form.Integers(f, root) {
		return false
	}
	if form.Time(root.Member("ts")).IsZero() {
		form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, "/ts", "not a time of RFC 3339")
		return false
	}

	event, decision := root.Member("event"), root.Member("decision")
	if !event.IsZero() && (!form.Members(f, event, []string{"class", "id", "dir"}, []string{"ext"}) || !form.OneOf(f, event.Member("dir"), "out", "in", "internal")) {
		return false
	}
	return decision.IsZero() || form.Members(f, decision, []string{"policy", "request_fp", "inputs", "verdict"}, []string{"ext"}) &&
		form.OneOf(f, decision.Member("verdict"), "allow", "block", "defer")
}

// readPlace reads the sequence number and the link of a record. The sequence numbers of a recorder
// increase, but may have gaps.
func readPlace(f *receipt.Foreign, root canon.Node) {
	const zeros = "0000000000000000000000000000000000000000000000000000000000000000"
	seq, ok := form.Integer(root.Member("seq"))
	previous := root.Member("prev").String()
	digest, err := canon.ParseDigest([]byte("sha256:" + previous))
	if err != nil || !ok || seq < 0 || (seq == 0) != (previous == zeros) {
		form.Fail(f, receipt.StepLink, receipt.CodeChainBreak, "/prev", "the record with seq 0 states zeros, and the others state a SHA-256 digest")
		return
	}
	f.Place = &receipt.ForeignPlace{Chain: root.Member("run").String() + " " + root.Member("recorder").String(), Sequence: seq, Previous: digest}
	if seq == 0 {
		form.Pass(f, receipt.StepLink)
		return
	}
	form.Leave(f, receipt.StepLink, receipt.CodeLinkNotChecked, "/prev", "the record before it was not given")
}
