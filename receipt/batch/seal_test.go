package batch_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/batch"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// TestByHand verifies batches of 1, 2, 3, and 5 receipts. It uses crypto/sha256 on literal bytes to
// compute leaves, roots, receipt hashes, and manifests.
func TestByHand(t *testing.T) {
	l := make([]canon.Digest, 5)
	for i := range l {
		l[i] = leaf(content(name(i), "w"))
	}
	for n, root := range map[int]canon.Digest{
		1: l[0],
		2: node(l[0], l[1]),
		3: node(node(l[0], l[1]), l[2]),
		5: node(node(node(l[0], l[1]), node(l[2], l[3])), l[4]),
	} {
		b := seal(t, drafts(t, n))
		if b.Manifest.Root() != root {
			t.Errorf("%d receipts: root %v, want %v", n, b.Manifest.Root(), root)
		}
		previous := "null"
		var entries []batch.Entry
		for i, r := range b.Receipts {
			want := hash(preimage(name(i), "w", root.String(), previous))
			if r.Hash() != want {
				t.Errorf("%d receipts: the hash of %s is %v, want %v", n, r.ID(), r.Hash(), want)
			}
			previous = `"` + want.String() + `"`
			entries = append(entries, batch.Entry{ReceiptID: name(i), Leaf: [32]byte(l[i]), ReceiptHash: want})
		}
		if got, want := string(b.Manifest.Marshal()), manifest(root, entries...); got != want {
			t.Errorf("%d receipts: manifest\n%swant\n%s", n, got, want)
		}
		if !slices.Equal(b.Manifest.Entries(), entries) {
			t.Errorf("%d receipts: entries %v, want %v", n, b.Manifest.Entries(), entries)
		}
	}
}

// TestFrozen verifies the exact bytes of one batch. It detects a change that affects both the code
// and the other tests.
func TestFrozen(t *testing.T) {
	const want = "sha256:0345108e05bfdd448e74f0b9beea4e50da3ea4a2738df8b6031794e201250129"
	if got := canon.Sum(seal(t, drafts(t, 3)).Manifest.Marshal()).String(); got != want {
		t.Errorf("the manifest hashes to %s, want %s", got, want)
	}
}

// TestStreams verifies that receipts from several streams may be interleaved, and that each stream
// continues after its own head.
func TestStreams(t *testing.T) {
	heads := map[chain.Stream]chain.Head{
		stream("a"): {Hash: hash("a"), Count: 7},
		stream("b"): {Hash: hash("b")}, // of unknown length
		stream("x"): {Hash: hash("x"), Count: 1},
	}
	given := maps.Clone(heads)
	order := []string{"a", "b", "c", "a", "b", "a"}
	var list []*canon.Document
	for i, w := range order {
		list = append(list, parse(t, content(name(i), w)))
	}
	b, err := batch.Seal(context.Background(), list, heads, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(heads, given) {
		t.Errorf("the caller's heads became %v", heads)
	}
	want := maps.Clone(heads)
	for i, doc := range documents(t, b) {
		link, ok := chain.LinkOf(doc)
		before := want[stream(order[i])]
		if !ok || link.Previous != before.Hash || link.First != before.IsZero() {
			t.Errorf("receipt %d: %+v, expected a link to %v", i, link, before)
		}
		want[stream(order[i])] = b.Receipts[i].Head()
	}
	for w, count := range map[string]uint64{"a": 10, "b": 0, "c": 1} {
		if got := want[stream(w)].Count; got != count {
			t.Errorf("stream %s has %d receipts, want %d", w, got, count)
		}
	}
	again, err := batch.Seal(context.Background(), list, heads, nil)
	if err != nil || !bytes.Equal(again.Manifest.Marshal(), b.Manifest.Marshal()) {
		t.Errorf("a second time the bytes are others, %v", err)
	}
	for i, r := range again.Receipts {
		if !bytes.Equal(r.JSON(), b.Receipts[i].JSON()) {
			t.Errorf("a second time the receipt %d has other bytes", i)
		}
	}
}

// TestSpelling verifies that no byte of the result depends on how a draft is spelled, on whether it
// contains the schema marker, or on a chain that adds no information.
func TestSpelling(t *testing.T) {
	want := seal(t, drafts(t, 1)).Manifest.Marshal()
	plain := content(name(0), "w")
	for what, text := range map[string]string{
		"spaces":       strings.ReplaceAll(plain, `,"`, " ,\n\""),
		"escapes":      strings.ReplaceAll(plain, `"receipt_id":"r`, `"\u0072eceipt_id":"\u0072`),
		"no schema":    strings.Replace(plain, `"schema":"receipt-2026-04-25",`, ``, 1),
		"order":        `{"trust":{"start_tier":"shadow","end_tier":"shadow"},` + strings.Replace(plain[1:], `,"trust":{"end_tier":"shadow","start_tier":"shadow"}`, ``, 1),
		"empty chain":  `{"chain":{},` + plain[1:],
		"null, stated": `{"chain":{"previous_receipt_hash":null},` + plain[1:],
	} {
		if got := seal(t, []*canon.Document{parse(t, text)}).Manifest.Marshal(); !bytes.Equal(got, want) {
			t.Errorf("%s: %s\nwant %s", what, got, want)
		}
	}
}

// TestVerify verifies that both signed and unsigned receipts in a batch can be verified.
func TestVerify(t *testing.T) {
	private, err := keys.Generate(rand.Reader, keys.Ed25519, "k")
	if err != nil {
		t.Fatal(err)
	}
	public := private.Public()
	public.Issuers = []string{"harness_example"}
	trust, err := keys.NewSet(public)
	if err != nil {
		t.Fatal(err)
	}
	full, err := receipt.NewVerifier(trust, receipt.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	list := drafts(t, 3)
	signed, err := batch.Seal(context.Background(), list, nil, keys.NewSigner(private, nil))
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range signed.Receipts {
		if _, err := full.Open(r.JSON()); err != nil {
			t.Errorf("receipt %d: %v", i, err)
		}
		if err := signed.Manifest.Check(parse(t, string(r.JSON()))); err != nil {
			t.Error(err)
		}
	}
	unsigned := seal(t, list)
	if !bytes.Equal(unsigned.Manifest.Marshal(), signed.Manifest.Marshal()) {
		t.Error("signatures change the manifest")
	}
	verify(t, unsigned)
}

// verify checks the integrity of the receipts in a batch. It also checks them against the manifest,
// which it first writes and parses.
func verify(t *testing.T, b *batch.Batch) {
	t.Helper()
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	m, err := batch.ParseManifest(b.Manifest.Marshal())
	if err != nil {
		t.Fatal(err)
	}
	rep := new(receipt.Report)
	for i, doc := range documents(t, b) {
		if v.Verify(doc, rep); rep.Verdict != receipt.Verified {
			t.Fatalf("receipt %d: %+v", i, rep.Finding())
		}
		if err := m.Check(doc); err != nil {
			t.Fatalf("receipt %d: %v", i, err)
		}
	}
}

// TestMany verifies a batch of ten thousand receipts, or of fewer unless it runs at full size.
func TestMany(t *testing.T) {
	n := 3000
	switch {
	case testing.Short():
		n = 1000
	case testsize.Full():
		n = 10_000
	}
	b := seal(t, drafts(t, n))
	verify(t, b)
	last := b.Receipts[n-1].Head()
	if last.Count != uint64(n) || len(b.Manifest.Entries()) != n {
		t.Errorf("%d receipts in the stream, %d in the manifest", last.Count, len(b.Manifest.Entries()))
	}
}

type failing struct{ after int }

var errSigner = errors.New("the HSM is on fire")

func (f *failing) Sign(context.Context, []byte) (receipt.Signature, error) {
	if f.after--; f.after < 0 {
		return receipt.Signature{}, errSigner
	}
	return receipt.Signature{KeyID: "k", Algorithm: "a", Signature: "s"}, nil
}

func TestSignerFails(t *testing.T) {
	b, err := batch.Seal(context.Background(), drafts(t, 3), nil, &failing{2})
	var failed *batch.DraftError
	if b != nil || !errors.As(err, &failed) || failed.Index != 2 || !errors.Is(err, errSigner) {
		t.Errorf("%v, %v", b, err)
	}
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if b, err := batch.Seal(ctx, drafts(t, 1), nil, nil); b != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", b, err)
	}
}
