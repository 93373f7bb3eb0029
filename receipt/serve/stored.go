package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// These are limits on pages and on the bodies of protocol requests.
const (
	mostPage      = 200
	usualPage     = 50
	maxVerifyBody = 64 << 10
	maxEcho       = 64 // maximum length of a value from the receipt in a summary, in bytes
)

// getReceipt serves GET /v1/receipts/{id}. The response is the protocol's resource or, if the
// client prefers one of them, the bare receipt or its archive.
func getReceipt(c *call) error {
	stored, err := storedReceipt(c)
	if err != nil {
		return err
	}

	// Vary makes caches distinguish the forms of the resource by the Accept header (RFC 9110
	// section 12.5.5).
	c.w.Header().Set("Vary", "Accept")
	doc, err := storedDocument(stored)
	if err != nil {
		return err
	}

	switch preferred(c.r.Request) {
	case mediaArchive:
		item, err := c.s.codec.Append(nil, doc)
		if err != nil {
			return protocol.Internal(err, "the stored receipt has no archive form: it holds what no receipt may")
		}
		return c.write(http.StatusOK, archive.MediaType, item)
	case mediaReceipt:
		return c.write(http.StatusOK, mediaReceipt, doc.Root().Raw())
	}

	return c.write(http.StatusOK, mediaJSON, append(appendResource(nil, doc, c.id()), '\n'))
}

// storedReceipt returns the receipt with the ID in the path, and never any other receipt.
func storedReceipt(c *call) (Stored, error) {
	if c.s.options.Source == nil {
		return Stored{}, protocol.NotFound()
	}
	stored, err := c.s.options.Source.Get(c.r.Context(), c.id(), c.r.Client.Reach)
	if err != nil {
		if pruned, ok := errors.AsType[*ledger.PrunedError](err); ok {
			return Stored{}, moved(pruned, c.r.Client.Reach)
		}
		return Stored{}, sourceFault(err)
	}
	return stored, stored.isReceipt(c.id(), c.r.Client.Reach)
}

// moved returns a 410 error for a receipt that has been moved to an archive. Only a client that may
// see all receipts is informed of the name of the archive.
func moved(p *ledger.PrunedError, reach protocol.Reach) *protocol.Error {
	e := &protocol.Error{Code: protocol.CodeNotFound, Status: http.StatusGone, Message: "the receipt was pruned: an archive contains it, and the ledger keeps its hash",
		Details: map[string]any{"pruned": true, "receipt_hash": p.Hash}}
	if reach.All() {
		e.Details["checkpoint"], e.Details["archive"], e.Details["archive_sha256"] = string(p.Pruning.Checkpoint), p.Pruning.Archive, p.Pruning.Digest
	}
	return e
}

// sourceFault returns the error response for an error from a source. The cause is only logged,
// because it may contain file names.
func sourceFault(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ledger.ErrNotFound):
		return protocol.NotFound()
	case errors.Is(err, ledger.ErrCursor):
		return protocol.Expired("cursor")
	case errors.Is(err, context.Canceled):
		return protocol.ClientClosed(err)
	case errors.Is(err, ErrChanged):
		return protocol.Internal(err, "the stored receipt is no longer what it was when the server found it")
	}
	return protocol.Internal(err, "the stored receipt cannot be read")
}

func storedDocument(s Stored) (*canon.Document, error) {
	doc := new(canon.Document)
	if err := doc.Parse(s.JSON, canon.Limits{Bytes: receipt.MaxBytes}); err != nil {
		return nil, protocol.Internal(protocol.WithoutText(err), "the stored receipt is not a JSON object that can be served; verify it for details")
	}
	if doc.Root().Kind() != canon.KindObject {
		return nil, protocol.Internal(nil, "the stored receipt is not a JSON object; verify it for details")
	}
	return doc, nil
}

// appendResource appends the protocol's resource for a receipt. The member wire.payload contains
// the complete receipt, byte for byte as stored, without surrounding whitespace; other members
// repeat parts of the receipt. If a damaged receipt lacks a member, that member is an empty string
// in the resource.
func appendResource(dst []byte, doc *canon.Document, id string) []byte {
	root := doc.Root()
	if id == "" {
		id = root.Member("receipt_id").String()
	}

	// These members repeat parts of the receipt; only wire.payload contains the receipt itself.
	subject := appendSubject(nil, root.Member("subject"))
	issued := canon.AppendString(nil, root.Member("issued_at").Text())
	dst = canon.AppendString(append(dst, `{"id":`...), id)
	dst = fmt.Appendf(dst, `,"object":"receipt","created_at":%s,"updated_at":%s,"metadata":{},"subject":%s`, issued, issued, subject)
	dst = canon.AppendString(append(dst, `,"format":`...), root.Member("schema").Text())
	dst = canon.AppendString(append(dst, `,"summary":`...), summaryOf(root))
	dst = fmt.Appendf(dst, `,"issued_at":%s`, issued)
	dst = canon.AppendString(append(dst, `,"issuer":`...), root.Member("issuer").Member("id").Text())
	dst = canon.AppendString(append(dst, `,"wire":{"schema_version":`...), root.Member("schema").Text())
	dst = fmt.Appendf(dst, `,"subject":%s,"issued_at":%s,"payload":`, subject, issued)
	dst = append(dst, root.Raw()...)
	return append(dst, "}}"...)
}

func appendSubject(dst []byte, subject canon.Node) []byte {
	dst = canon.AppendString(append(dst, `{"object":`...), subject.Member("object").Text())
	dst = canon.AppendString(append(dst, `,"id":`...), subject.Member("id").Text())
	return append(dst, '}')
}

// summaryOf describes a receipt in one line, using values in the receipt. Values that the source
// did not record, such as the outcome, are omitted.
func summaryOf(root canon.Node) string {
	var words []string
	untold := receipt.ReadUnreported(root)
	for _, at := range [][2]string{{"lifecycle", "final_state"}, {"subject", "object"}, {"subject", "id"}} {
		word := root.Member(at[0]).Member(at[1]).String()
		if word != "" && !untold.Has("/"+at[0]+"/"+at[1]) {
			words = append(words, untrusted.Cut(word, maxEcho))
		}
	}
	if len(words) == 0 {
		return "a receipt that states no subject"
	}
	return strings.ToValidUTF8(strings.Join(words, " "), "")
}

// A verification is the protocol's response to a request to verify a stored receipt.
type verification struct {
	Valid     bool         `json:"valid"`
	CheckedAt receipt.Time `json:"checked_at"`
	Reason    *string      `json:"reason"`
	Details   details      `json:"details"`
}

type details struct {
	Report *receipt.Report `json:"report"`
}

// verifyStored serves POST /v1/receipts/{id}/verify. A refuted or undecided receipt results in a
// report, not in an error.
func verifyStored(c *call) error {
	question, anchor, err := storedQuestion(c)
	if err != nil {
		return err
	}
	stored, err := storedReceipt(c)
	if err != nil {
		return err
	}

	v, err := c.s.verifier(anchor)
	if err != nil {
		return err
	}

	// The verification and checked_at use the same time.
	now := c.s.options.Now()
	judge, err := judgeFor(v, question, now)
	if err != nil {
		return refusedQuestion(err)
	}
	if judge.Verifier, err = weighing(c, judge.Verifier); err != nil {
		return err
	}

	return judgeOne(c, judge, stored.JSON, stream.JSON, "stored", stored.Link, func(rep *receipt.Report) error {
		return c.json(http.StatusOK, verificationOf(rep, c.id(), receipt.At(now)))
	})
}

// weighing returns a verifier that also uses the server's evidence for the receipt in the path: a
// checkpoint proof, and batches. As with the command "receipt verify", all of this evidence is
// required, so a receipt that was added after the checkpoint is undecided.
func weighing(c *call, judge *receipt.Verifier) (*receipt.Verifier, error) {
	e := receipt.Evidence{Batches: c.s.options.Batches}

	// The proof is found by the receipt ID; verifying it shows whether it belongs to this receipt.
	if p := c.s.options.Proofs; p != nil && judge.Scope() == receipt.ScopeFull { // in any other scope, no log is trusted
		text, err := p.Proof(c.id())
		if err == nil {
			e.Proofs = make([]*tlog.Proof, 1)
			e.Proofs[0], err = tlog.ParseProof(text)
		}

		switch {
		case errors.Is(err, ledger.ErrNotFound):
			e.Uncompared = "the checkpoint that the server has is not over this receipt"
			if c := judge.OpenCheckpoint(p.Checkpoint()); !c.Signed { // an unsigned checkpoint proves nothing about a receipt
				e.Checkpoint, e.Uncompared = c, "no trusted key of its log signed the checkpoint that the server has"
			}
		case err != nil:
			return nil, protocol.Internal(err, "the proof of the stored receipt cannot be made")
		}
	}

	if len(e.Proofs) == 0 && len(e.Batches) == 0 && e.Uncompared == "" {
		return judge, nil
	}
	judge, err := judge.With(e)
	if err != nil {
		return nil, protocol.Internal(err, "the policy of this server cannot be used")
	}

	return judge, nil
}

// verificationOf is the only function that sets valid to true. It does so only for the requested
// receipt, if both its content and its signatures were verified.
func verificationOf(rep *receipt.Report, id string, now receipt.Time) verification {
	out := verification{CheckedAt: now, Details: details{rep}}
	if rep.Verdict == receipt.Verified && rep.Scope == receipt.ScopeFull && string(rep.ReceiptID) == id {
		out.Valid = true
		return out
	}

	// An intact receipt is not necessarily valid, because anyone can create a receipt that matches
	// its stated hash.
	reason := "intact: the server has no trusted keys, so nobody knows who signed"
	if rep.Verdict != receipt.Verified {
		f := rep.Finding()
		reason = fmt.Sprintf("%v: %s", rep.Verdict, f.Code)
		if f.Detail != "" {
			reason += ": " + f.Detail
		}
	}

	out.Reason = &reason
	return out
}

// storedQuestion parses the body of a request to verify a stored receipt. An unknown member is
// rejected, because it may be a requirement that would otherwise not be checked.
func storedQuestion(c *call) (q question, anchor func() *Verifier, err error) {
	anchor = c.s.options.Verifier

	// A null member is treated as absent.
	for name, value := range c.r.JSON.Root().Members() {
		switch member, kind := name.String(), value.Kind(); {
		case member != "trust_anchor" && member != "at_time":
			err = protocol.Invalid(member, "unknown member %.40q; expected trust_anchor, at_time or none", member)
		case kind == canon.KindNull:
		case kind != canon.KindString:
			err = protocol.Invalid(member, "expected a string or null as the member %.40q", member)
		case member == "trust_anchor":
			anchor, err = anchorOf(c, value.String())
		default:
			q.At, err = protocol.Query{member: value.String()}.Time(member)
		}

		if err != nil {
			return q, nil, err
		}
	}

	return q, anchor, nil
}

// anchorOf returns the trust anchor with the given name. The name is never used to open a file or
// to fetch data.
func anchorOf(c *call, name string) (func() *Verifier, error) {
	if f, ok := c.s.options.Anchors[name]; ok {
		return f, nil
	}
	return nil, protocol.Invalid("trust_anchor", "this server has no trust anchor %.40q", name)
}
