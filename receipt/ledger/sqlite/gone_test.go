package sqlite_test

import (
	"context"
	"errors"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/storetest"
)

// A heldStore stores all receipts, but returns no head until it is released.
type heldStore struct {
	asked, release chan struct{}
	appended       []*receipt.Sealed
}

func (s *heldStore) Head(context.Context, chain.Stream) (chain.Head, error) {
	s.asked <- struct{}{}
	<-s.release
	return chain.Head{}, nil
}

func (s *heldStore) Append(_ context.Context, runs ...ledger.Run) error {
	s.appended = append(s.appended, runs[0].Receipts...)
	return nil
}

func (s *heldStore) Find(context.Context, ledger.Key) (*ledger.Row, error) {
	return nil, ledger.ErrNotFound
}

// TestDraftOfCallerThatLeft verifies that, after a caller has canceled, the receipt is not affected
// if the caller changes the draft or parses other text into the document.
func TestDraftOfCallerThatLeft(t *testing.T) {
	store := &heldStore{asked: make(chan struct{}), release: make(chan struct{})}
	issuer := &ledger.Issuer{Store: store, Unsigned: true, KeepSecrets: true}
	ctx, cancel := context.WithCancel(t.Context())
	draft := storetest.Draft("receipt_1", "w")
	draft.Metadata = receipt.Object{}
	left := make(chan error)
	go func() {
		_, err := issuer.Issue(ctx, draft)
		left <- err
	}()
	<-store.asked
	cancel()
	if err := <-left; !isUnknown(err) {
		t.Fatalf("error %v, expected that the outcome is unknown", err)
	}
	draft.Metadata["changed"] = true
	store.release <- struct{}{}

	// The next draft in the stream is processed after the first draft has been processed.
	go func() { <-store.asked; store.release <- struct{}{} }()
	if _, err := issuer.Issue(t.Context(), storetest.Draft("receipt_3", "w")); err != nil {
		t.Fatal(err)
	}
	if n := len(store.appended); n != 1 {
		t.Errorf("%d receipts were appended, expected that of the caller that stayed alone", n)
	}
}

func TestDocumentOfCallerThatLeft(t *testing.T) {
	store := &heldStore{asked: make(chan struct{}), release: make(chan struct{})}
	issuer := &ledger.Issuer{Store: store, Unsigned: true, KeepSecrets: true}
	ctx, cancel := context.WithCancel(t.Context())
	doc := new(canon.Document)
	parseDraft(t, doc, "receipt_1")
	left := make(chan error)
	go func() {
		_, err := issuer.Issue(ctx, doc)
		left <- err
	}()
	<-store.asked
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, expected the context's", err)
	}
	parseDraft(t, doc, "receipt_2") // this draft was not passed to Issue
	store.release <- struct{}{}

	go func() { <-store.asked; store.release <- struct{}{} }()
	if _, err := issuer.Issue(t.Context(), storetest.Draft("receipt_3", "w")); err != nil {
		t.Fatal(err)
	}
	for _, r := range store.appended {
		if r.ID() != "receipt_3" {
			t.Errorf("%s was appended but never issued", r.ID())
		}
	}
}

func parseDraft(t *testing.T, doc *canon.Document, id string) {
	t.Helper()
	sealed, err := receipt.Seal(storetest.Draft(id, "w"), chain.Head{})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := canon.Parse(sealed.JSON())
	if err != nil {
		t.Fatal(err)
	}
	root := whole.Root()
	if err := doc.Parse(whole.AppendCanonical(nil, root.Member("chain"), root.Member("signatures")), canon.Limits{}); err != nil {
		t.Fatal(err)
	}
}
