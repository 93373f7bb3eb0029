package receiptkit_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/internal/attest"
	"github.com/receiptkit/receiptkit/internal/foreign"
	"github.com/receiptkit/receiptkit/internal/foreign/a2a"
	"github.com/receiptkit/receiptkit/internal/foreign/acta"
	"github.com/receiptkit/receiptkit/internal/foreign/ael"
	"github.com/receiptkit/receiptkit/internal/foreign/audit"
	"github.com/receiptkit/receiptkit/internal/foreign/harn"
	"github.com/receiptkit/receiptkit/internal/foreign/obsigna"
	"github.com/receiptkit/receiptkit/internal/foreign/pipelock"
	"github.com/receiptkit/receiptkit/internal/foreign/verdict"
	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/batch"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/memory"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/replay"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/redact"
)

// shared contains the values that all goroutines of TestShared use concurrently.
type shared struct {
	doc       *canon.Document // a receipt that is not in canonical form, so that computing its digest needs a buffer
	sealed    *receipt.Sealed
	draft     *canon.Document
	event     *canon.Document
	redacted  *canon.Document
	withheld  *redact.Result
	verifier  *receipt.Verifier
	trust     *keys.Set
	signer    receipt.Signer
	policy    *redact.Policy
	batch     *batch.Batch
	envelope  *canon.Document
	statement *attest.Statement
	opener    *attest.Opener
	plan      *replay.Plan
	ledger    *sqlite.Ledger
	issuer    *ledger.Issuer
}

// foreign evaluates findings from a reader of another format.
func (s *shared) foreign(f *receipt.Foreign) any {
	rep := new(receipt.Report)
	s.verifier.Foreign(s.doc.Source(), f, rep)
	return fmt.Sprint(rep.Verdict, f)
}

// Trust makes s a source of keys.
func (s *shared) Trust(context.Context) (receipt.Trust, string, error) { return s.trust, "1", nil }

// exclusive lists the functions that must not be called on shared values, with the reasons.
var exclusive = map[string]string{
	"canon.Document.Parse":         "writes the document",
	"receipt/stream.Receipt":       "parses the text into the document",
	"receipt/record.EachLine":      "takes no document: its function gets them",
	"receipt/serve/sourcetest.Run": "takes no receipts: its function gets them",
}

// uses contains a call of each exported function or method that has a receiver or parameter of a
// type in sharedTypes, and of each method of a document's nodes. Functions in exclusive are
// exceptions. Each call returns everything that a caller could observe.
var uses = map[string]func(s *shared) any{
	"canon.Document.AppendCanonical": func(s *shared) any { return string(s.doc.AppendCanonical(nil)) },
	"canon.Document.Depth":           func(s *shared) any { return s.doc.Depth() },
	"canon.Document.Digest":          func(s *shared) any { return s.doc.Digest() },
	"canon.Document.Find":            func(s *shared) any { return string(s.find("/chain/receipt_hash").Raw()) },
	"canon.Document.IsCanonical":     func(s *shared) any { return s.doc.IsCanonical() },
	"canon.Document.LossyInteger":    func(s *shared) any { _, is := s.doc.LossyInteger(); return is },
	"canon.Document.MarshalJSON":     func(s *shared) any { return text(s.doc.MarshalJSON()) },
	"canon.Document.Root":            func(s *shared) any { return string(s.doc.Root().Raw()) },
	"canon.Document.Source":          func(s *shared) any { return string(s.doc.Source()) },
	"canon.Node.AppendCanonical":     func(s *shared) any { return string(s.find("/cost").AppendCanonical(nil)) },
	"canon.Node.Bool":                func(s *shared) any { return s.find("/cost").Bool() },
	"canon.Node.Elements":            func(s *shared) any { return walk(s.doc.Root()) },
	"canon.Node.Float":               func(s *shared) any { return s.find("/cost/total").Float() },
	"canon.Node.IsZero":              func(s *shared) any { return s.find("/nowhere").IsZero() },
	"canon.Node.Kind":                func(s *shared) any { return s.find("/cost").Kind() },
	"canon.Node.Len":                 func(s *shared) any { return s.find("/models").Len() },
	"canon.Node.Member":              func(s *shared) any { return s.doc.Root().Member("cost").Offset() },
	"canon.Node.Members":             func(s *shared) any { return walk(s.doc.Root()) },
	"canon.Node.Offset":              func(s *shared) any { return s.find("/cost").Offset() },
	"canon.Node.Pointer":             func(s *shared) any { return s.find("/cost/total").Pointer() },
	"canon.Node.Raw":                 func(s *shared) any { return string(s.find("/cost").Raw()) },
	"canon.Node.String":              func(s *shared) any { return s.find("/receipt_id").String() },
	"canon.Node.Text":                func(s *shared) any { return string(s.find("/receipt_id").Text()) },

	"chain.AppendPreimage": func(s *shared) any { return text(chain.AppendPreimage(nil, s.doc)) },
	"chain.Hash":           func(s *shared) any { h, err := chain.Hash(s.doc); return fmt.Sprint(h, err) },
	"chain.LinkOf":         func(s *shared) any { l, ok := chain.LinkOf(s.doc); return fmt.Sprint(l, ok) },
	"chain.StreamOf":       func(s *shared) any { return chain.StreamOf(s.doc) },

	"receipt.Draft.Redact": func(s *shared) any {
		d, withheld, err := new(receipt.Draft).Redact(s.policy, salts())
		return fmt.Sprint(d, withheld, err)
	},
	"receipt.BatchLeaf":   func(s *shared) any { return receipt.BatchLeaf(s.doc) },
	"receipt.NewVerifier": func(s *shared) any { _, err := receipt.NewVerifier(s.trust, s.verifier.Policy()); return err },
	"receipt.NewSnapshot": func(s *shared) any {
		_, err := receipt.NewSnapshot(context.Background(), s, s.verifier.Policy())
		return err
	},
	"receipt.SealDocument": func(s *shared) any { return seen(receipt.SealDocument(s.draft, chain.Head{})) },
	"receipt.Supersede": func(s *shared) any {
		d, err := receipt.Supersede(s.draft, s.sealed.Hash())
		return text(d.Source(), err)
	},
	"receipt.Sealed.Document":    func(s *shared) any { return s.sealed.Document().Digest() },
	"receipt.Sealed.Hash":        func(s *shared) any { return s.sealed.Hash() },
	"receipt.Sealed.Head":        func(s *shared) any { return s.sealed.Head() },
	"receipt.Sealed.ID":          func(s *shared) any { return s.sealed.ID() },
	"receipt.Sealed.JSON":        func(s *shared) any { return string(s.sealed.JSON()) },
	"receipt.Sealed.MarshalJSON": func(s *shared) any { return text(s.sealed.MarshalJSON()) },
	"receipt.Sealed.Sign":        func(s *shared) any { return seen(s.sealed.Sign(context.Background(), s.signer)) },
	"receipt.Sealed.Stream":      func(s *shared) any { return s.sealed.Stream() },
	"receipt.Verifier.Foreign":   func(s *shared) any { return s.foreign(acta.Read(s.doc)) },
	"receipt.Verifier.Amend": func(s *shared) any {
		return fmt.Sprint(s.report(s.linked), s.report(s.weighed), s.report(s.unreadable))
	},
	"receipt.Verifier.Open":           func(s *shared) any { r, err := s.verifier.Open(s.doc.Source()); return fmt.Sprint(r != nil, err) },
	"receipt.Verifier.OpenCheckpoint": func(s *shared) any { return s.verifier.OpenCheckpoint([]byte("no note")) != nil },
	"receipt.Verifier.Witnessed": func(s *shared) any {
		at, external := s.verifier.Witnessed(&receipt.Checkpoint{})
		return []any{at, external}
	},
	"receipt.Verifier.Policy":        func(s *shared) any { return s.verifier.Policy().Issuer },
	"receipt.Verifier.Scope":         func(s *shared) any { return s.verifier.Scope() },
	"receipt.Verifier.Snapshot":      func(s *shared) any { version, err := s.verifier.Snapshot(); return []any{version, err} },
	"receipt.Verifier.Verify":        func(s *shared) any { return s.report(s.judged) },
	"receipt.Verifier.VerifyBytes":   func(s *shared) any { return s.report(s.read) },
	"receipt.Verifier.TrackEvidence": func(s *shared) any { v, idle := s.verifier.TrackEvidence(); return fmt.Sprint(v.Scope(), idle()) },
	"receipt.Verifier.With":          func(s *shared) any { v, err := s.verifier.With(receipt.Evidence{}); return fmt.Sprint(v.Scope(), err) },

	"receipt/archive.Codec.Append":         func(s *shared) any { return text(archive.NewCodec().Append(nil, s.doc)) },
	"internal/foreign.Read":                func(s *shared) any { return s.foreign(foreign.Read("obsigna", s.doc.Source(), s.doc)) },
	"internal/foreign/a2a.Read":            func(s *shared) any { return s.foreign(a2a.Read(s.doc)) },
	"internal/foreign/ael.ReadArtifact":    func(s *shared) any { return s.foreign(ael.ReadArtifact(s.doc)) },
	"internal/foreign/audit.Read":          func(s *shared) any { return s.foreign(audit.Read(s.doc)) },
	"internal/foreign/acta.Read":           func(s *shared) any { return s.foreign(acta.Read(s.doc)) },
	"internal/foreign/harn.ReadPersona":    func(s *shared) any { return s.foreign(harn.ReadPersona(s.doc)) },
	"internal/foreign/harn.ReadProvenance": func(s *shared) any { return s.foreign(harn.ReadProvenance(s.doc)) },
	"internal/foreign/harn.ReadTrustGraph": func(s *shared) any { return s.foreign(harn.ReadTrustGraph(s.doc)) },
	"internal/foreign/obsigna.Read":        func(s *shared) any { return s.foreign(obsigna.Read(s.doc)) },
	"internal/foreign/pipelock.ReadV1":     func(s *shared) any { return s.foreign(pipelock.ReadV1(s.doc)) },
	"internal/foreign/pipelock.ReadV2":     func(s *shared) any { return s.foreign(pipelock.ReadV2(s.doc)) },

	"internal/foreign.Chains.Follow": func(s *shared) any {
		var chains foreign.Chains
		rep := new(receipt.Report)
		chains.Follow(s.verifier, &receipt.Foreign{Place: &receipt.ForeignPlace{}}, false, rep)
		return rep.Verdict
	},
	"internal/foreign/verdict.ReadSVR": func(s *shared) any { return s.foreign(verdict.ReadSVR(s.envelope)) },
	"internal/foreign/verdict.ReadVSA": func(s *shared) any { return s.foreign(verdict.ReadVSA(s.envelope)) },
	"internal/foreign/audit.FromReceipt": func(s *shared) any {
		return text(audit.FromReceipt(s.sealed, make(ed25519.PublicKey, ed25519.PublicKeySize)))
	},
	"internal/foreign/a2a.Sign": func(s *shared) any {
		return text(a2a.Sign(context.Background(), s.doc, func(context.Context, []byte) (string, error) { return "..", nil }))
	},
	"internal/attest.SignText": func(s *shared) any {
		e, err := attest.SignText(context.Background(), s.statement.Bytes(), s.signer)
		return text(e.Bytes(), err)
	},

	"internal/attest.Is":            func(s *shared) any { return attest.Is(s.envelope) },
	"internal/attest.NewOpener":     func(s *shared) any { return s.unwrap(attest.NewOpener(s.trust, s.verifier.Policy())) },
	"internal/attest.NewStatement":  func(s *shared) any { st, err := attest.NewStatement(s.sealed, commit); return fmt.Sprint(st, err) },
	"internal/attest.Opener.Judge":  func(s *shared) any { return s.report(s.attested) },
	"internal/attest.Opener.Unwrap": func(s *shared) any { return s.unwrap(s.opener) },
	"internal/attest.Parse":         func(s *shared) any { e, err := attest.Parse(s.envelope); return text(e.Bytes(), err) },
	"receipt/batch.Manifest.Check":  func(s *shared) any { return s.batch.Manifest.Check(s.batch.Receipts[0].Document()) },
	"receipt/batch.Seal":            func(s *shared) any { b, err := s.seal(); return text(b.Manifest.Marshal(), err) },
	"receipt/ledger.RowsOf": func(s *shared) any {
		rows, err := ledger.RowsOf(ledger.Run{Stream: s.sealed.Stream(), Receipts: []*receipt.Sealed{s.sealed}})
		return fmt.Sprint(rows, err)
	},
	"internal/attest.Sign": func(s *shared) any {
		e, err := attest.Sign(context.Background(), s.statement, s.signer)
		return text(e.Bytes(), err)
	},
	"receipt/keys.Set.CheckRaw": func(s *shared) any {
		k, why := s.trust.CheckRaw([]byte("message"), &receipt.ForeignSignature{})
		return fmt.Sprint(k, why)
	},
	"receipt/keys.Set.CheckSignature": func(s *shared) any { return s.signed() },
	"receipt/keys.Set.Keys":           func(s *shared) any { return len(s.trust.Keys()) },
	"receipt/keys.Set.Len":            func(s *shared) any { return s.trust.Len() },
	"receipt/keys.Set.NoteKeys":       func(s *shared) any { return len(s.trust.NoteKeys()) },
	"receipt/keys.Set.With":           func(s *shared) any { set, err := s.trust.With(s.trust.Keys()[0]); return set == nil && err != nil },
	"receipt/ledger.Sign": func(s *shared) any {
		return seen(ledger.Sign(context.Background(), s.ledger, "no such receipt", s.signer))
	},
	"receipt/ledger.Check": func(s *shared) any {
		c, err := ledger.Check(context.Background(), s.ledger, s.verifier, func(ledger.Fault) {}, nil)
		return fmt.Sprint(c, err)
	},
	"receipt/ledger/sqlite.Ledger.Replace": func(s *shared) any {
		replaced, err := s.ledger.Replace(context.Background(), s.sealed, s.sealed)
		return fmt.Sprint(replaced, err)
	},
	"receipt/ledger/memory.Ledger.Append": func(s *shared) any {
		return new(memory.Ledger).Append(context.Background(), ledger.Run{Stream: s.sealed.Stream(), Receipts: []*receipt.Sealed{s.sealed}})
	},
	"receipt/ledger/memory.Ledger.Replace": func(s *shared) any {
		replaced, err := new(memory.Ledger).Replace(context.Background(), s.sealed, s.sealed)
		return fmt.Sprint(replaced, err)
	},
	"receipt/ledger.Import": func(s *shared) any {
		i, err := ledger.Import(context.Background(), s.ledger, s.verifier, nothing)
		return fmt.Sprint(i, err)
	},
	"receipt/record.Recorder.AddDocument": func(s *shared) any { return s.recorded() },
	"receipt/replay.Compare":              func(s *shared) any { return fmt.Sprint(replay.Compare(s.doc, s.draft, replay.Projection)) },
	"receipt/replay.Plan.Check":           func(s *shared) any { return fmt.Sprint(s.report(s.replayed), s.report(s.sourced)) },
	"receipt/serve.NewVerifier":           func(s *shared) any { _, err := serve.NewVerifier(s.trust, s.verifier.Policy(), nil); return err },
	"receipt/stream.Verify": func(s *shared) any {
		return summary(stream.Verify(context.Background(), s.verifier, bytes.NewReader(s.doc.Source()), stream.Options{Jobs: 1}))
	},
	"receipt/stream.VerifySeq": func(s *shared) any {
		items := func(yield func(stream.Item, error) bool) { yield(stream.Item{JSON: s.doc.Source()}, nil) }
		return summary(stream.VerifySeq(context.Background(), s.verifier, items, stream.Options{Jobs: 1}))
	},
	"receipt/stream.VerifyFiles": func(s *shared) any {
		return summary(stream.VerifyFiles(context.Background(), s.verifier, s.sources(), stream.Options{Jobs: 1}))
	},
	"receipt/stream.Conclude": func(s *shared) any {
		sum, err := stream.Conclude(s.verifier, new(join.Result), stream.Options{}, nil)
		return text(json.Marshal(sum)) + fmt.Sprint(err)
	},
	"receipt/stream.Records": func(s *shared) any {
		return summary(stream.Records(context.Background(), s.verifier, s.sources(), stream.Options{Jobs: 1}, nil, func(*join.Record) error { return nil }))
	},
	"redact.Consistent":          func(s *shared) any { return redact.Consistent(s.redacted, s.withheld.Disclosures.Fields) },
	"redact.Disclosures.Fitting": func(s *shared) any { return fmt.Sprint(s.withheld.Disclosures.Fitting(s.redacted)) },
	"redact.Disclosures.Check":   func(s *shared) any { return s.withheld.Disclosures.Check(s.redacted) },
	"redact.Policy.Find":         func(s *shared) any { return fmt.Sprint(s.policy.Find(s.draft)) },
	"redact.Policy.Redact":       func(s *shared) any { r, err := s.policy.Redact(s.draft, salts()); return text(r.Draft.Source(), err) },
}

// TestShared verifies that the functions in uses return the same results on eight goroutines as on
// one. CI runs this test with the race detector.
func TestShared(t *testing.T) {
	s := newShared(t)
	want := map[string]string{}
	for name, use := range uses {
		want[name] = fmt.Sprint(use(s))
	}

	rounds := testsize.Of(2, 8)
	concurrently(func(g int) {
		names := slices.Sorted(maps.Keys(uses))
		for i := range rounds * len(names) {
			name := names[(i+g*7)%len(names)]
			if got := fmt.Sprint(uses[name](s)); got != want[name] {
				t.Errorf("%s: got %.200s, want %.200s", name, got, want[name])
			}
		}
	})
}

// TestSharedHashes verifies that eight goroutines that hash the same document concurrently compute
// the correct hash. CI computes a million hashes.
func TestSharedHashes(t *testing.T) {
	s := newShared(t)
	hash, err := chain.Hash(s.doc)
	if err != nil {
		t.Fatal(err)
	}
	digest, each := s.doc.Digest(), 2_000
	if testsize.Full() {
		each = 1_000_000 / 16
	}

	concurrently(func(int) {
		wrong := 0
		for range each {
			if h, err := chain.Hash(s.doc); err != nil || h != hash {
				wrong++
			}
			if s.doc.Digest() != digest {
				wrong++
			}
		}
		if wrong > 0 {
			t.Errorf("%d of %d hashes are wrong", wrong, 2*each)
		}
	})
}

// TestSharedIsComplete verifies that uses contains every exported function that has a receiver or
// parameter of a shared type.
func TestSharedIsComplete(t *testing.T) {
	files, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, f := range files {
		if strings.HasPrefix(f.dir, "cmd") || strings.HasPrefix(f.dir, "examples") || strings.HasPrefix(f.dir, "fixtures") || strings.Contains(f.dir, "internal") && !checked(f.dir) {
			continue
		}
		for _, d := range f.syntax.Decls {
			if name := sharing(f.dir, d); name != "" {
				found[name] = true
			}
		}
	}

	for name := range found {
		if _, used := uses[name]; !used && exclusive[name] == "" {
			t.Errorf("%s takes a value that goroutines share; add a call to uses", name)
		}
	}
	for name := range uses {
		if !found[name] {
			t.Errorf("%s is in uses and is not an exported function that takes a shared value", name)
		}
	}
}

// checked reports whether uses must also contain the functions of an internal package, because
// servers call them with shared values.
func checked(dir string) bool {
	return dir == "internal/attest" || dir == "internal/foreign" || path.Dir(dir) == "internal/foreign"
}

// sharedTypes lists the types whose values may be used by several goroutines at the same time.
var sharedTypes = []string{"canon.Document", "receipt.Sealed", "ledger.Run", "receipt.Verifier", "receipt.Policy", "receipt.Trust", "receipt.Signer", "redact.Policy", "serve.Verifier", "keys.Set"}

// sharing returns the name of the function that d declares. It returns "" unless the function is
// exported and either has a receiver or parameter of a shared type, or is a method of a document's
// nodes.
func sharing(dir string, d ast.Decl) string {
	f, is := d.(*ast.FuncDecl)
	if !is || !f.Name.IsExported() {
		return ""
	}

	// An unqualified type belongs to the package in dir.
	takes := false
	look := func(list *ast.FieldList) {
		ast.Inspect(list, func(n ast.Node) bool {
			name := ""
			switch n := n.(type) {
			case *ast.SelectorExpr:
				name = fmt.Sprint(n.X) + "." + n.Sel.Name
			case *ast.Ident:
				name = path.Base(dir) + "." + n.Name
			}
			takes = takes || slices.Contains(sharedTypes, name)
			_, selector := n.(*ast.SelectorExpr)
			return !selector
		})
	}
	look(f.Type.Params)

	name := dir + "." + f.Name.Name
	if f.Recv != nil {
		receiver := strings.TrimPrefix(types.ExprString(f.Recv.List[0].Type), "*")
		if !ast.IsExported(receiver) {
			return ""
		}
		look(f.Recv)
		takes = takes || dir+"."+receiver == "canon.Node"
		name = dir + "." + receiver + "." + f.Name.Name
	}
	if !takes {
		return ""
	}
	return name
}

// concurrently calls f on eight goroutines and waits for them.
func concurrently(f func(g int)) {
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() { f(g) })
	}
	group.Wait()
}
