package receiptkit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/internal/attest"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/batch"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/replay"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/redact"
)

const commit = "8f94139338f9404f26296befa88755fc2598c289"

func newShared(t *testing.T) *shared {
	t.Helper()
	s, ctx := new(shared), context.Background()
	full := fixture(t, "valid/full.json")
	var indented bytes.Buffer
	if err := json.Indent(&indented, full, "", "  "); err != nil {
		t.Fatal(err)
	}
	s.doc = parsed(t, indented.Bytes())
	s.sealed = must(receipt.ParseSealed(full))(t)
	s.draft = parsed(t, []byte(draftOf(t, fixture(t, "valid/minimal.json"))))
	events, err := os.ReadFile("docs/events.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	s.event = parsed(t, events[:bytes.IndexByte(events, '\n')])

	s.trust = must(keys.ParseSet(fixture(t, "keys/trust.json")))(t)
	s.verifier = must(receipt.NewVerifier(s.trust, receipt.Policy{}))(t)
	key := must(keys.ParsePrivate(fixture(t, "keys/key_2026_04.private.json")))(t)
	s.signer = keys.NewSigner(key, func() time.Time { return time.Unix(1777147200, 0) })

	s.policy = must(redact.Default().Compile())(t)
	secret := bytes.Replace(s.draft.Source(), []byte(`"metadata":{}`), []byte(`"metadata":{"password":"hunter2"}`), 1)
	s.withheld = must(s.policy.Redact(parsed(t, secret), salts()))(t)
	s.redacted = parsed(t, s.withheld.Draft.Source())

	s.batch = must(s.seal())(t)
	statement := must(attest.NewStatement(s.sealed, commit))(t)
	s.statement = statement
	envelope := must(attest.Sign(ctx, statement, s.signer))(t)
	s.envelope = parsed(t, envelope.Bytes())
	s.opener = attest.NewOpener(s.trust, receipt.Policy{})

	log := must(replay.ReadLog(bytes.NewReader(events), ""))(t)
	request := must(replay.ParseRequest([]byte(`{"mode":"exact"}`)))(t)
	s.plan = must(replay.NewPlan(ctx, log, request, nil))(t)

	s.ledger = must(sqlite.Create(ctx, filepath.Join(t.TempDir(), "ledger.db")))(t)
	t.Cleanup(func() {
		if err := s.ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	s.issuer = &ledger.Issuer{Store: s.ledger, Signer: s.signer}
	if _, err := s.issuer.Issue(ctx, s.draft); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *shared) find(pointer string) canon.Node {
	p, err := canon.ParsePointer(pointer)
	if err != nil {
		panic(err)
	}
	n, _ := s.doc.Find(p)
	return n
}

// report returns the JSON form of the report that judge creates.
func (s *shared) report(judge func(*receipt.Report)) string {
	rep := new(receipt.Report)
	s.verifier.Verify(s.doc, rep)
	judge(rep)
	return text(json.Marshal(rep))
}

func (s *shared) judged(rep *receipt.Report) { s.verifier.Verify(s.doc, rep) }
func (s *shared) read(rep *receipt.Report) {
	s.verifier.VerifyBytes(s.doc.Source(), new(canon.Document), rep)
}
func (s *shared) linked(rep *receipt.Report) {
	s.verifier.Amend(rep, receipt.Check{Step: receipt.StepLink})
}
func (s *shared) weighed(rep *receipt.Report) {
	s.verifier.Amend(rep, receipt.Check{Step: receipt.StepHash})
}
func (s *shared) attested(rep *receipt.Report) { s.opener.Judge(s.verifier, s.envelope.Source(), rep) }

func (s *shared) unreadable(rep *receipt.Report) {
	s.verifier.Amend(rep, receipt.Check{Step: receipt.StepParse, Status: receipt.StatusFailed})
}

func (s *shared) replayed(rep *receipt.Report) {
	if err := s.plan.Check(s.verifier, rep, s.doc, nil); err != nil {
		panic(err)
	}
}

func (s *shared) sourced(rep *receipt.Report) {
	if err := s.plan.Check(s.verifier, rep, s.doc, s.doc); err != nil {
		panic(err)
	}
}

func (s *shared) unwrap(o *attest.Opener) string {
	inside, wrong, _ := o.Unwrap(s.envelope)
	return fmt.Sprintf("%s %v", inside, wrong)
}

func (s *shared) seal() (*batch.Batch, error) {
	return batch.Seal(context.Background(), []*canon.Document{s.draft}, nil, s.signer)
}

func (s *shared) recorded() string {
	r, err := record.New(record.Options{Issuer: receipt.Issuer{ID: "harness_1"}})
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(r.AddDocument(s.event), r.Digest())
}

func (s *shared) sources() []stream.Source {
	return []stream.Source{{Name: "a.json", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(s.doc.Source())), nil
	}}}
}

// salts returns a source that yields the same salts in each run.
func salts() io.Reader { return rand.NewChaCha8([32]byte{1}) }

func nothing(func([]byte, error) bool) {}

func fixture(t *testing.T, name string) []byte {
	t.Helper()
	return must(fixtures.Read(name))(t)
}

func parsed(t *testing.T, src []byte) *canon.Document {
	t.Helper()
	return must(canon.Parse(src))(t)
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// draftOf returns a sealed receipt without the members that sealing adds.
func draftOf(t *testing.T, data []byte) []byte {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		t.Fatal(err)
	}
	delete(members, "chain")
	delete(members, "signatures")
	return must(json.Marshal(members))(t)
}

func text(b []byte, err error) string { return fmt.Sprintf("%s %v", b, err) }

func seen(s *receipt.Sealed, err error) string {
	if err != nil {
		return err.Error()
	}
	return string(s.JSON())
}

func summary(r *stream.Run) string {
	for range r.Reports() {
	}
	sum, err := r.Summary()
	if err != nil {
		return err.Error()
	}
	return text(json.Marshal(sum))
}

// walk returns the values in the subtree of n.
func walk(n canon.Node) (list []string) {
	for _, e := range n.Elements() {
		list = append(append(list, string(e.Raw())), walk(e)...)
	}
	for name, v := range n.Members() {
		list = append(append(list, name.String()), walk(v)...)
	}
	return list
}

// signed returns the results of checking a signature of the sealed receipt against the signed
// message and against a different message.
func (s *shared) signed() string {
	signature, err := s.signer.Sign(context.Background(), []byte(s.sealed.Hash().String()))
	if err != nil {
		return err.Error()
	}
	entry := &receipt.Entry{KeyID: []byte(signature.KeyID), Algorithm: []byte(signature.Algorithm), Signature: []byte(signature.Signature)}
	key, why := s.trust.CheckSignature([]byte(s.sealed.Hash().String()), entry)
	_, other := s.trust.CheckSignature([]byte("another message"), entry)
	return fmt.Sprint(key != nil, why, other)
}
