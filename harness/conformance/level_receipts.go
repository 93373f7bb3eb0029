package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/harness/conformance/internal/wire"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

func levelReceipts() []Probe {
	return group(Ours, "level-receipts",
		probe("receipt_verifies", receiptVerifies, "a task that has ended has a receipt, which matches its schema, its hash, and a signature of its issuer", "Receipts level; the receipt format"),
		probe("receipt_is_of_its_task", receiptIsOfTask, "the receipt of a task names the task and states how it ended", "The receipt format: subject, identifiers, lifecycle"),
		probe("receipt_is_referenced", receiptIsReferenced, "task, outcome, event, and artifact refer to the receipt of their task", "Receipts level; receipt_id"),
		probe("receipt_bytes_stay", receiptBytesStay, "every read of a receipt, on every route, returns the sealed receipt unchanged", "GET /v1/receipts/{receipt_id}, ReceiptWireEnvelope"),
		probe("receipt_covers_its_events", receiptCoversEvents, "the log digest in a receipt matches the events that the server returns for its task", "The receipt format: replay_input.materials, event_log"),
		probe("server_verdict_agrees", serverAgrees, "the server's verdict on a receipt is correct", "POST /v1/receipts/{receipt_id}/verify, ReceiptVerification"),
		probe("unknown_trust_anchor", unknownAnchor, "a receipt is not reported as valid for a trust anchor that does not exist", "POST /v1/receipts/{receipt_id}/verify, VerifyReceiptRequest"),
		probe("verification_time", verificationTime, "a receipt is not reported as valid at a time when no trusted key was valid", "POST /v1/receipts/{receipt_id}/verify, VerifyReceiptRequest"),
		probe("tampered_copy_is_refuted", tamperedCopies, "an altered copy of a receipt is refuted", "The receipt format: chain.receipt_hash; POST /v1/verify"),
		probe("receipts_are_one_chain", oneChain, "a receipt names the hash of its predecessor, and no two receipts name the same predecessor", "The receipt format: chain.previous_receipt_hash"),
		probe("canceled_task_has_receipt", canceledHasReceipt, "a canceled task has a receipt that states the cancellation", "Receipts level; Task lifecycle"),
		probe("secrets_are_withheld", secretsAreWithheld, "a secret in the input of a task is in no event, stream, receipt, artifact, outcome, or error", "Receipts level: redaction"),
		probe("archive_is_the_receipt", archiveIsReceipt, "the archive form of a receipt contains the same receipt", "The receipt format: CBOR"),
	)
}

func receiptVerifies(ctx context.Context, s *suite) {
	_, g := plainReceipt(ctx, s)
	if s.options.Trust == nil {
		s.note = "without trusted keys only the content was judged"
	}
	must(g.verified())
}

func receiptIsOfTask(ctx context.Context, s *suite) {
	e, g := plainReceipt(ctx, s)
	root := g.doc.Root()
	for name, want := range map[string]string{"id": text(root, "receipt_id"), "object": "receipt", "issuer": text(root.Member("issuer"), "id"), "issued_at": text(root, "issued_at"), "format": receipt.SchemaMarker} {
		if payloadOf(g.answer.Root()).Offset() != g.answer.Root().Offset() {
			g.answer.Equal(name, want)
		}
	}
	for _, of := range []canon.Node{g.answer.Root(), g.answer.Root().Member("wire")} {
		if is := of.Member("subject"); g.answer.Err == nil && !is.IsZero() && wire.Canonical(is) != wire.Canonical(root.Member("subject")) {
			g.answer.Fail("expected the subject of the receipt, found %s", wire.Quote(wire.Canonical(is)))
		}
	}
	if g.answer.Err == nil && text(root, "receipt_id") != e.receipt {
		g.answer.Fail("expected the receipt_id %s, found %s", wire.Quote(e.receipt), wire.Quote(text(root, "receipt_id")))
	}
	must(g.isOfTask(e))
}

// receiptIsReferenced checks every reference to the receipt for a task.
func receiptIsReferenced(ctx context.Context, s *suite) {
	e, _ := plainReceipt(ctx, s)
	refers := func(of string, n canon.Node) {
		if id := text(n, "receipt_id"); id != e.receipt {
			fail("%s: expected the receipt_id %s, as the task has it, found %s", of, wire.Quote(e.receipt), wire.Quote(id))
		}
	}

	listed := items(ctx, s, path("v1/tasks/%s/receipts", e.id), 200)
	if differs := sameIDs([]string{e.receipt}, ids(listed)); differs != "" {
		fail("GET /v1/tasks/{task_id}/receipts: %s", differs)
	}
	outcome := expect(s.get(ctx, "v1/outcomes/%s", text(e.task.Root(), "outcome_id")).Status(200))
	refers("the outcome", outcome.Root())
	for _, a := range items(ctx, s, path("v1/artifacts?task_id=%s", e.id), 200) {
		refers("an artifact of the task", a)
	}

	for _, n := range eventsOfTask(ctx, s, e.id) {
		if text(n, "event") == "receipt.issued" {
			refers("the event receipt.issued", n)
			return
		}
	}
	fail("GET /v1/tasks/{task_id}/events: expected the event receipt.issued, found none")
}

// receiptBytesStay reads a receipt in every available way and expects the same bytes.
func receiptBytesStay(ctx context.Context, s *suite) {
	e, g := plainReceipt(ctx, s)
	again := receiptOf(ctx, s, e)
	if !bytes.Equal(g.raw, again.raw) {
		must(again.answer.Fail("expected the bytes that were read before, found others").Err)
	}

	for _, item := range items(ctx, s, path("v1/tasks/%s/receipts", e.id), 200) {
		if payload := payloadOf(item); text(item, "id") == e.receipt && !payload.IsZero() && !bytes.Equal(payload.Raw(), g.raw) {
			fail("GET /v1/tasks/{task_id}/receipts: expected the receipt %s in the bytes in which it is read alone, found others", wire.Quote(e.receipt))
		}
	}
	alone := s.client.Do(ctx, wire.Request{Path: path("v1/receipts/%s", e.receipt), Accept: wire.MediaReceipt})
	if alone.Code == 200 && strings.HasPrefix(alone.Header.Get("Content-Type"), wire.MediaReceipt) && !bytes.Equal(bytes.TrimSpace(alone.Body), g.raw) {
		alone.Fail("as %s: expected the bytes of wire.payload, found others", wire.MediaReceipt)
	}
	must(alone.Err)
}

// serverAgrees compares the server's verdict on a receipt with the verdict of this package.
func serverAgrees(ctx context.Context, s *suite) {
	e, g := plainReceipt(ctx, s)
	a := expect(s.post(ctx, "", object{}, "v1/receipts/%s/verify", e.receipt).Status(200).Bool("valid").Has("checked_at"))
	said := a.Root().Member("valid").Bool()
	switch ours := g.report.Verdict; {
	case ours == receipt.Refuted && said:
		a.Fail("expected valid to be false of a receipt that is refuted (%s), found true", g.report.Finding().Code)
	case s.options.Trust == nil && ours == receipt.Verified && !said:
		skip("the server reports that the receipt is not valid; without trusted keys this cannot be checked")
	case ours == receipt.Verified && !said:
		a.Fail("expected valid to be true of a receipt that is verified, found false")
	case s.options.Trust != nil && ours == receipt.Undecided && said:
		a.Fail("expected valid to be false of a receipt that the trusted keys do not verify (%s), found true", g.report.Finding().Code)
	}
	must(a.Err)
}

// unknownAnchor requests a verification with a trust anchor that does not exist.
func unknownAnchor(ctx context.Context, s *suite) {
	e, _ := plainReceipt(ctx, s)
	notValid(ctx, s, e, object{"trust_anchor": s.absent()})
}

// verificationTime requests verification as of a time before the key was valid, if there is such a
// time.
func verificationTime(ctx context.Context, s *suite) {
	e, g := plainReceipt(ctx, s)
	policy := s.options.Policy
	policy.At = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
	if s.options.Trust == nil {
		skip("no trusted keys were given")
	}
	judge, err := receipt.NewVerifier(s.options.Trust, policy)
	if err != nil {
		fail("conformance: %w", err)
	}
	var report receipt.Report
	if judge.VerifyBytes(g.raw, new(canon.Document), &report); report.Verdict == receipt.Verified {
		skip("the trusted keys are valid at any time")
	}
	notValid(ctx, s, e, object{"at_time": policy.At.Format(time.RFC3339)})
}

// notValid expects that the server refuses a verification or reports that the receipt is not valid.
func notValid(ctx context.Context, s *suite, e *ended, question object) {
	a := s.post(ctx, "", question, "v1/receipts/%s/verify", e.receipt).Status(200, 400, 404, 422, 501)
	if a.Is(200) && a.Bool("valid").Err == nil && a.Root().Member("valid").Bool() {
		a.Fail("with %s: expected valid to be false, found true", encode(question))
	}
	must(a.Err)
}

// A change replaces one value in the text of a receipt.
type change struct{ what, old, new string }

// tamperedCopies changes a receipt in several ways. This package must detect each change. The
// server must also detect each change if it verifies receipts that are sent to it.
func tamperedCopies(ctx context.Context, s *suite) {
	e, g := plainReceipt(ctx, s)
	root := g.doc.Root()
	hash := text(root.Member("chain"), "receipt_hash")
	state := text(root.Member("lifecycle"), "final_state")
	changes := []change{
		{"the end of the task", `"` + state + `"`, `"CANCELED"`},
		{"the task", `"` + e.id + `"`, `"` + e.id + `x"`},
		{"the stated hash", hash, canon.Sum([]byte(hash)).String()},
		{"the time of issue", text(root, "issued_at"), "2001-01-01T00:00:00Z"},
	}
	if state == "CANCELED" {
		changes[0].new = `"SUCCEEDED"`
	}

	if said, offered, err := serverSays(ctx, s, g.raw); offered && (err != nil || said != "verified" && g.report.Verdict == receipt.Verified && s.options.Trust != nil) {
		must(errors.Join(err, fmt.Errorf("POST /v1/verify: expected the receipt as it was given to be verified, found it %s", wire.Quote(said))))
	}
	for _, c := range changes {
		if c.old == "" || c.old == c.new {
			must(g.answer.Fail("expected a receipt that states %s, found none", c.what).Err)
		}
		tampered := bytes.ReplaceAll(g.raw, []byte(c.old), []byte(c.new))
		var doc canon.Document
		var report receipt.Report
		s.judge.VerifyBytes(tampered, &doc, &report)
		if bytes.Equal(tampered, g.raw) || report.Verdict != receipt.Refuted {
			must(g.answer.Fail("expected a copy with %s changed to be refuted, found it %s", c.what, report.Verdict).Err)
		}
		if said, offered, err := serverSays(ctx, s, tampered); err != nil || offered && said != "refuted" {
			must(errors.Join(err, fmt.Errorf("POST /v1/verify: expected a copy with %s changed to be refuted, found it %s", c.what, wire.Quote(said))))
		}
	}
}

// serverSays sends a receipt to the server for verification. Servers need not support this.
func serverSays(ctx context.Context, s *suite, text []byte) (verdict string, offered bool, err error) {
	a := s.client.Do(ctx, wire.Request{Method: "POST", Path: "v1/verify", Body: text})
	if a.Is(404, 405, 501) {
		return "", false, nil
	}
	return a.Status(200).Has("verdict").Root().Member("verdict").String(), true, a.Err
}

// tries is the maximum number of attempts to run two tasks without another client's receipt between
// theirs.
const tries = 3

// oneChain runs two tasks in sequence and expects that their receipts are linked.
func oneChain(ctx context.Context, s *suite) {
	able(ctx, s, "receipts")
	var wrong error
	for range tries {
		var list [2]*given
		for i := range list {
			list[i] = receiptOf(ctx, s, endedTask(ctx, s, "a task before or after another of the run "+s.id))
		}
		one, known := chain.LinkOf(list[0].doc)
		two, knownToo := chain.LinkOf(list[1].doc)
		switch {
		case !known || !knownToo:
			must(list[1].answer.Fail("expected hashes in chain, found none").Err)
		case chain.StreamOf(list[0].doc) != chain.StreamOf(list[1].doc):
			must(list[1].answer.Fail("expected two tasks of one workspace in one stream of receipts, found two").Err)
		case one.First && two.First, !one.First && one.Previous == two.Previous:
			must(list[1].answer.Fail("expected the receipt before as the predecessor, found the predecessor of that one: the chain forks").Err)
		case two.Previous == one.Hash && !two.First:
			return
		}
		wrong = list[1].answer.Fail("expected %s, the receipt of the task before, as previous_receipt_hash, found %s", one.Hash, two.Previous).Err
	}
	must(wrong)
}

func canceledHasReceipt(ctx context.Context, s *suite) {
	able(ctx, s, "receipts")
	e := canceledTask(ctx, s)
	g := receiptOf(ctx, s, e)
	must(errors.Join(g.isOfTask(e), g.verified()))
}

// archiveIsReceipt compares the archive with the receipt, if the server offers archives.
func archiveIsReceipt(ctx context.Context, s *suite) {
	e, g := plainReceipt(ctx, s)
	a := expect(s.client.Do(ctx, wire.Request{Path: path("v1/receipts/%s", e.receipt), Accept: wire.MediaArchive}))
	if a.Code != 200 || !strings.HasPrefix(a.Header.Get("Content-Type"), wire.MediaArchive) {
		skip("the server offers no archive")
	}
	text, err := archive.NewCodec().ToJSON(a.Body)
	switch {
	case err != nil:
		a.Fail("expected an archive, found none: %v", err)
	case string(text) != wire.Canonical(g.doc.Root()):
		a.Fail("expected the receipt that is given as JSON, found another")
	}
	must(a.Err)
}
