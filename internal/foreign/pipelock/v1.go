// Package pipelock reads action receipts (version 1) and evidence receipts (version 2) of
// Pipelock.
//
//	version 1   signed bytes  the 32 bytes SHA-256(G), where G is action_record as encoding/json
//	                          of Go writes it: in the order of declaration, with HTML escapes
//	            link          the hex of SHA-256 of Go JSON of version, action_record, signature,
//	                          and signer_key
//	version 2   signed bytes  JCS of the receipt in which the members of signature are ""
//	            link          the hex of SHA-256 of JCS(receipt)
package pipelock

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/foreign/internal/form"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
)

// declared returns the members of an action record in the order in which Pipelock, a Go program,
// writes them. newer returns the members whose position is not published.
func declared() []string {
	return strings.Fields(`version action_id parent_action_id action_type timestamp principal actor delegation_chain target
		intent data_classes_in data_classes_out side_effect_class reversibility policy_hash verdict session_taint_level
		session_contaminated recent_taint_sources session_task_id session_task_label authority_kind taint_decision
		taint_decision_reason task_override_applied transport method layer pattern severity redaction request_id
		chain_prev_hash chain_seq venue jurisdiction rulebook_id remedy_class contestation_window precedent_refs`)
}

func newer() []string { return []string{"run_nonce", "session_control", "key_transition"} }

// ReadV1 reads an action receipt, or a recorder line that contains one.
func ReadV1(doc *canon.Document) *receipt.Foreign {
	root := doc.Root()
	f := &receipt.Foreign{Format: "pipelock-v1"}
	if detail := root.Member("detail"); !detail.IsZero() && root.Member("action_record").IsZero() {
		form.Uncovered(f, "", "no signature covers the line of the recorder around detail, and its hash was not checked")
		root = detail
	}
	record := root.Member("action_record")
	f.ID = record.Member("action_id").String()
	if !form.Members(f, root, []string{"version", "action_record", "signature", "signer_key"}, []string{"ext"}) || !readRecord(f, record) {
		return f
	}
	version := root.Member("version")
	if string(version.Raw()) == "1" {
		version = record.Member("version")
	}
	if string(version.Raw()) != "1" {
		form.Leave(f, receipt.StepSchema, receipt.CodeUnsupportedSchema, version.Pointer(), "the version %s is not known", untrusted.Quote(version.Raw(), 80))
		return f
	}
	form.Pass(f, receipt.StepSchema)
	if ext := root.Member("ext"); !ext.IsZero() {
		form.Uncovered(f, ext.Pointer(), "no signature covers ext, which is advisory")
	}
	readPlace(f, record)

	public, ok := form.Hex(root.Member("signer_key").String(), 32)
	value, prefixed := strings.CutPrefix(root.Member("signature").String(), "ed25519:")
	sig, ok2 := form.Hex(value, 64)
	if !ok || !ok2 || !prefixed {
		form.Fail(f, receipt.StepSignatures, receipt.CodeMalformedSignature, root.Member("signature").Pointer(), `expected "ed25519:" and 128 hexadecimal digits, and a signer_key of 64`)
		return f
	}

	previous, _ := canon.ParseDigest([]byte("sha256:" + record.Member("chain_prev_hash").String())) // zero in the first receipt
	seq, _ := form.Integer(record.Member("chain_seq"))                                              // readPlace has already checked it
	request := []byte{'['}
	for _, name := range []string{"actor", "target", "method"} {
		request = append(canon.AppendString(request, record.Member(name).Text()), ',')
	}
	verdict := record.Member("verdict").String()
	f.Place = &receipt.ForeignPlace{Chain: root.Member("signer_key").String(), Sequence: seq, Previous: previous, ActionID: f.ID,
		Request: string(request), Denied: verdict == "block", Allowed: verdict == "allow"}

	text, unsure := appendRecord(nil, record)
	digest := sha256.Sum256(text)
	f.Hash = canon.Sum([]byte(`{"version":1,"action_record":` + string(text) + `,"signature":` + string(root.Member("signature").Raw()) + `,"signer_key":` + string(root.Member("signer_key").Raw()) + `}`))
	f.Signatures = []receipt.ForeignSignature{{Public: public, Algorithm: "EdDSA", Messages: [][]byte{digest[:]}, Value: sig,
		At: form.Time(record.Member("timestamp")), Pointer: root.Member("signature").Pointer(), Unsure: unsure}}
	return f
}

// readRecord checks the members of an action record.
func readRecord(f *receipt.Foreign, record canon.Node) bool {
	required := []string{"version", "action_id", "action_type", "timestamp", "target", "verdict", "transport", "chain_prev_hash", "chain_seq"}
	if !form.Members(f, record, required, append(declared(), newer()...)) || !form.Strings(f, record, "action_id", "target", "verdict", "chain_prev_hash") ||
		!form.OneOf(f, record.Member("action_type"), "read", "derive", "write", "delegate", "authorize", "spend", "commit", "actuate", "unclassified") {
		return false
	}
	if form.Time(record.Member("timestamp")).IsZero() {
		form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, record.Pointer()+"/timestamp", "not a time of RFC 3339")
		return false
	}

	// Identifiers are printed and logged, so a control character in an identifier could forge a
	// line.
	for _, name := range []string{"action_id", "parent_action_id", "principal", "actor", "target", "transport", "method", "layer", "request_id", "session_task_id", "venue"} {
		if strings.ContainsFunc(record.Member(name).String(), func(r rune) bool { return r < ' ' || r == 0x7f }) {
			form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, record.Member(name).Pointer(), "an identifier contains a control character")
			return false
		}
	}
	return true
}

// readPlace checks the members that state the place of a receipt in its chain. If there is only one
// receipt, some of these checks are not possible.
func readPlace(f *receipt.Foreign, record canon.Node) {
	previous := record.Member("chain_prev_hash")
	seq, ok := form.Integer(record.Member("chain_seq"))
	_, isHash := form.Hex(strings.TrimPrefix(previous.String(), "g1:"), 32)
	begins := previous.String() == "genesis" || strings.HasPrefix(previous.String(), "g1:")
	switch {
	case !ok || seq < 0 || previous.String() != "genesis" && !isHash || begins != (seq == 0):
		form.Fail(f, receipt.StepLink, receipt.CodeChainBreak, previous.Pointer(), "the receipt with chain_seq 0 states genesis, and the others state a SHA-256 digest")
	case previous.String() == "genesis":
		form.Pass(f, receipt.StepLink)
	default:
		form.Leave(f, receipt.StepLink, receipt.CodeLinkNotChecked, previous.Pointer(), "the predecessor, or the opening of the session, was not given")
	}
}

// appendRecord appends an action record in the form in which encoding/json wrote it. If the bytes
// may differ from the signed bytes, unsure states why: the order of the members was changed later,
// or is unknown.
func appendRecord(dst []byte, record canon.Node) (text []byte, unsure string) {
	order := declared()
	var names []string
	for name := range record.Members() {
		if names = append(names, name.String()); slices.Contains(newer(), name.String()) {
			unsure = "the order in which Pipelock signs run_nonce, session_control, and key_transition is not published"
		}
	}

	byOrder := func(a, b string) int { return cmp.Compare(slices.Index(order, a), slices.Index(order, b)) }
	if unsure == "" && !slices.IsSortedFunc(names, byOrder) {
		unsure = "the members are not in the order of Pipelock: the receipt was saved again, and the order inside its members may have changed, too"
		slices.SortFunc(names, byOrder)
	}
	dst = append(dst, '{')
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendGo(append(appendGoString(dst, name), ':'), record.Member(name))
	}
	return append(dst, '}'), unsure
}

// appendGo appends a value in the form of encoding/json, with the received order of members and the
// received spelling of numbers.
func appendGo(dst []byte, n canon.Node) []byte {
	switch n.Kind() {
	case canon.KindString:
		return appendGoString(dst, n.String())
	case canon.KindArray:
		dst = append(dst, '[')
		for i, e := range n.Elements() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendGo(dst, e)
		}
		return append(dst, ']')
	case canon.KindObject:
		dst = append(dst, '{')
		first := true
		for name, value := range n.Members() {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = appendGo(append(appendGoString(dst, name.String()), ':'), value)
		}
		return append(dst, '}')
	}
	return append(dst, n.Raw()...)
}

func appendGoString(dst []byte, s string) []byte {
	text, _ := json.Marshal(s) // a string cannot cause an error
	return append(dst, text...)
}
