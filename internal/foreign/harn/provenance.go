// Package harn reads the other receipt formats of Harn: provenance receipts, persona receipts, and
// OpenTrustGraph records. Their hashes do not cover the RFC 8785 form, but compact JSON with
// members in a format-specific order and numbers as spelled.
//
//	provenance      receipt_hash  SHA-256(T), where T is the receipt in the order of declaration,
//	                              with an empty receipt_hash and no signatures
//	                signed bytes  "harn provenance receipt v1", LF, T
//	                record_hash   SHA-256 of an event with sorted names
//	OpenTrustGraph  entry_hash    SHA-256 of a record with sorted names, without entry_hash
package harn

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/foreign/internal/form"
	"github.com/receiptkit/receiptkit/receipt"
)

// An object lists the names of the members of a JSON object, in the order of the upstream
// declaration.
type object []string

func provenanceObject() object {
	return object{"schema", "receipt_id", "issued_at", "producer", "run", "event_log", "chain", "signatures"}
}

func memberObject(name string) object {
	switch name {
	case "producer":
		return object{"name", "version"}
	case "run":
		return object{"pipeline", "status", "started_at_ms", "finished_at_ms", "exit_code"}
	case "event_log":
		return object{"backend", "topics", "events"}
	case "events":
		return object{"topic", "event_id", "kind", "payload", "headers", "occurred_at_ms", "prev_hash", "record_hash"}
	case "chain":
		return object{"algorithm", "event_root_hash", "receipt_hash"}
	case "signatures":
		return object{"algorithm", "key_id", "public_key_base64", "signature_base64", "signed_at"}
	}
	return nil
}

// ReadProvenance reads a provenance receipt.
func ReadProvenance(doc *canon.Document) *receipt.Foreign {
	root := doc.Root()
	f := &receipt.Foreign{Format: "harn-provenance", ID: root.Member("receipt_id").String()}
	if !readObjects(f, root) {
		return f
	}
	form.Pass(f, receipt.StepSchema)

	text := appendObject(nil, root, "", provenanceObject())
	f.Hash = canon.Sum(text)
	chain := root.Member("chain")
	if chain.Member("algorithm").String() != "sha256/ed25519" {
		form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, "/chain/algorithm", "expected sha256/ed25519")
	}
	if stated := chain.Member("receipt_hash").String(); stated != f.Hash.String() {
		mismatch(f, receipt.StepHash, "/chain/receipt_hash", stated, f.Hash)
	}
	readEvents(f, root)
	if !slices.ContainsFunc(f.Checks, func(c receipt.Check) bool { return c.Step == receipt.StepHash }) {
		form.Pass(f, receipt.StepHash)
	}

	readSignatures(f, root, append([]byte("harn provenance receipt v1\n"), text...))
	return f
}

func mismatch(f *receipt.Foreign, step receipt.Step, at, stated string, computed canon.Digest) {
	f.Checks = append(f.Checks, receipt.Check{Step: step, Status: receipt.StatusFailed, Code: receipt.CodeHashMismatch, Pointer: at, Stated: stated[:min(len(stated), 80)], Computed: computed.String(), Detail: "the hash is that of different content"})
}

// readObjects checks the members of all objects. A member that upstream does not declare is not
// covered by the hash, so nothing shows who wrote it.
func readObjects(f *receipt.Foreign, root canon.Node) bool {
	ok := members(f, root, provenanceObject())
	for _, name := range []string{"producer", "run", "event_log", "chain"} {
		ok = ok && members(f, root.Member(name), memberObject(name))
	}
	if !ok {
		return false
	}
	for _, list := range []struct {
		name string
		of   canon.Node
	}{{"events", root.Member("event_log").Member("events")}, {"signatures", root.Member("signatures")}} {
		if list.of.Kind() != canon.KindArray {
			form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, list.of.Pointer(), "expected an array of %s", list.name)
			return false
		}
		for _, n := range list.of.Elements() {
			if !members(f, n, memberObject(list.name)) {
				return false
			}
		}
	}
	return true
}

func members(f *receipt.Foreign, n canon.Node, declared object) bool {
	if !form.Members(f, n, declared, nil) {
		return false
	}
	for name := range n.Members() {
		if !slices.Contains(declared, name.String()) {
			form.Leave(f, receipt.StepSchema, receipt.CodeUnsupportedSchema, n.Pointer(), "a member that is not declared is outside the hash")
			form.Uncovered(f, n.Pointer(), "neither the hash nor a signature covers members that are not declared")
			return false
		}
	}
	return true
}

// appendObject appends an object with its members in the declared order.
func appendObject(dst []byte, n canon.Node, name string, declared object) []byte {
	dst = append(dst, '{')
	for i, member := range declared {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(canon.AppendString(dst, member), ':')
		value := n.Member(member)
		switch {
		case name == "" && member == "signatures":
			dst = append(dst, "[]"...)
		case name == "chain" && member == "receipt_hash":
			dst = append(dst, `""`...)
		case name == "event_log" && member == "events":
			dst = append(dst, '[')
			for i, event := range value.Elements() {
				if i > 0 {
					dst = append(dst, ',')
				}
				dst = appendObject(dst, event, "events", memberObject("events"))
			}
			dst = append(dst, ']')
		case name == "" && memberObject(member) != nil:
			dst = appendObject(dst, value, member, memberObject(member))
		default:
			dst = form.AppendSorted(dst, value)
		}
	}
	return append(dst, '}')
}

// An event is a log entry with its topic and ID.
type event struct {
	canon.Node
	topic string
	id    int64
}

// readEvents checks the hash of each event, the links in each topic, and the root.
func readEvents(f *receipt.Foreign, root canon.Node) {
	var list []event
	for _, n := range root.Member("event_log").Member("events").Elements() {
		id, ok := form.Integer(n.Member("event_id"))
		if !ok {
			form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, n.Pointer()+"/event_id", "expected an integer")
			return
		}
		list = append(list, event{n, n.Member("topic").String(), id})
	}
	slices.SortStableFunc(list, func(a, b event) int { return cmp.Or(cmp.Compare(a.topic, b.topic), cmp.Compare(a.id, b.id)) })

	broken := false
	previous := event{}
	for _, e := range list {
		computed := canon.Sum(recordText(e.Node))
		if stated := e.Member("record_hash").String(); stated != computed.String() {
			mismatch(f, receipt.StepHash, e.Pointer()+"/record_hash", stated, computed)
		}

		// The headers repeat the members, and other readers may rely on the headers.
		linked := ""
		if previous.topic == e.topic && !previous.IsZero() {
			linked = previous.Member("record_hash").String()
		}
		headers := e.Member("headers")
		if e.Member("prev_hash").String() != linked || (e.Member("prev_hash").Kind() == canon.KindNull) != (linked == "") || previous.topic == e.topic && previous.id == e.id && !previous.IsZero() ||
			headers.Member("harn.provenance.prev_hash").String() != linked || headers.Member("harn.provenance.record_hash").String() != computed.String() ||
			headers.Member("harn.provenance.schema").String() != "harn-eventlog-provenance-v1" {
			form.Fail(f, receipt.StepLink, receipt.CodeChainBreak, e.Pointer(), "the event or its headers do not name the event before it in its topic")
			broken = true
		}
		previous = e
	}

	if computed, stated := rootOf(list), root.Member("chain").Member("event_root_hash").String(); stated != computed.String() {
		mismatch(f, receipt.StepHash, "/chain/event_root_hash", stated, computed)
	}
	if !broken {
		form.Pass(f, receipt.StepLink)
	}
	f.NotChecked = append(f.NotChecked, receipt.Note{Code: receipt.CodeTailNotChecked, Pointer: "/event_log", Detail: "events after the last one, which nothing in the receipt shows"})
}

// recordText returns the text of an event that its hash covers.
func recordText(e canon.Node) []byte {
	text := []byte(`{"event_id":`)
	text = append(form.AppendSorted(text, e.Member("event_id")), `,"headers":`...)
	text = append(form.AppendSorted(text, e.Member("headers"), "harn.provenance.record_hash"), `,"kind":`...)
	text = append(form.AppendSorted(text, e.Member("kind")), `,"occurred_at_ms":`...)
	text = append(form.AppendSorted(text, e.Member("occurred_at_ms")), `,"payload":`...)
	text = append(form.AppendSorted(text, e.Member("payload")), `,"topic":`...)
	return append(form.AppendSorted(text, e.Member("topic")), '}')
}

// rootOf hashes the textual forms of the hashes in pairs, level by level. If a level has an odd
// number of hashes, the last hash is paired with itself, so two lists can have the same root; the
// links distinguish these lists.
func rootOf(list []event) canon.Digest {
	if len(list) == 0 {
		return canon.Sum(nil)
	}
	var level []string
	for _, e := range list {
		level = append(level, e.Member("record_hash").String())
	}
	for len(level) > 1 {
		var next []string
		for i := 0; i < len(level); i += 2 {
			next = append(next, canon.Sum([]byte(level[i]+level[min(i+1, len(level)-1)])).String())
		}
		level = next
	}
	d, _ := canon.ParseDigest(level[0]) // readEvents reports a malformed hash as a mismatch
	return d
}

// readSignatures reads the signatures, whose keys are in the receipt itself.
func readSignatures(f *receipt.Foreign, root canon.Node, message []byte) {
	for _, n := range root.Member("signatures").Elements() {
		public, ok1 := form.Base64(n.Member("public_key_base64").String())
		sig, ok2 := form.Base64(n.Member("signature_base64").String())
		sum := sha256.Sum256(public)
		switch {
		case n.Member("algorithm").String() != "ed25519" || !ok1 || !ok2 || len(public) != 32:
			form.Fail(f, receipt.StepSignatures, receipt.CodeMalformedSignature, n.Pointer(), "expected the algorithm ed25519, and the padded base64 of a key and a signature")
		case n.Member("key_id").String() != "ed25519:"+hex.EncodeToString(sum[:16]):
			form.Fail(f, receipt.StepSignatures, receipt.CodeMalformedSignature, n.Pointer()+"/key_id", "key_id is not that of the key")
		default:
			f.Signatures = append(f.Signatures, receipt.ForeignSignature{KeyID: n.Member("key_id").String(), Public: public, Algorithm: "EdDSA", Messages: [][]byte{message},
				Value: sig, At: form.Time(root.Member("issued_at")), Pointer: n.Pointer()})
		}
	}

	if root.Member("signatures").Len() == 0 {
		form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, "/signatures", "the format requires a signature")
	}
	form.Uncovered(f, "/signatures", "no signature covers signed_at")
}
