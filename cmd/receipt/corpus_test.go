package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/mod/sumdb/note"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/batch"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// corpusCommands returns the script commands that create inputs for the corpus.
//
//	receipts [-n N] [-id I] [-workspace W] [-tenant T] [-issuer I] [-other K] [-same K] FILE   lines of a signed stream
//	repack IN OUT          lines in the format of OUT's extension: .gz, .zst, .cbor, .cborseq
//	files IN DIR           each line as DIR/0001.json, and so on
//	checkpoint IN OUT [N]  a checkpoint of the first N lines, signed by log_1
//	prove IN N OUT         a proof that the checkpoint of all lines covers line N
//	replaced IN OUT A B…   the text with each A, which must be in it, replaced with its B
//	batch IN OUT MANIFEST  the receipts sealed again as one batch of the content profile
func corpusCommands() map[string]func(*testscript.TestScript, bool, []string) {
	commands := map[string]func(*testscript.TestScript, bool, []string){}
	for name, make := range map[string]func(ts *testscript.TestScript, args []string) error{
		"receipts": makeReceipts, "repack": repack, "files": splitFiles,
		"checkpoint": makeCheckpoint, "prove": makeProof, "batch": makeBatch, "replaced": replaced,
	} {
		commands[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			if neg {
				ts.Fatalf("%s makes files", name)
			}
			ts.Check(make(ts, args))
		}
	}
	return commands
}

func replaced(ts *testscript.TestScript, args []string) error {
	if len(args) < 4 || len(args)%2 != 0 {
		return fmt.Errorf("usage: replaced IN OUT A B…")
	}
	text := ts.ReadFile(args[0])
	for i := 2; i < len(args); i += 2 {
		if !strings.Contains(text, args[i]) {
			return fmt.Errorf("%s: %q is not in it", args[0], args[i])
		}
		text = strings.ReplaceAll(text, args[i], args[i+1])
	}
	return os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600)
}

// corpusSigner returns a signer that signs as the issuer of the fixtures at a fixed time.
func corpusSigner(ts *testscript.TestScript) receipt.Signer {
	data, err := fixtures.Read("keys/key_2026_04.private.json")
	ts.Check(err)
	key, err := keys.ParsePrivate(data)
	ts.Check(err)
	return keys.NewSigner(key, func() time.Time { return time.Date(2026, 4, 26, 0, 0, 0, 0, time.UTC) })
}

func makeReceipts(ts *testscript.TestScript, args []string) error {
	f := flag.NewFlagSet("receipts", flag.ContinueOnError)
	n := f.Int("n", 3, "how many")
	workspace, tenant := f.String("workspace", "w", ""), f.String("tenant", "", "")
	id := f.String("id", "receipt", "what ids begin with; Go escapes allowed here and in the workspace")
	issuer := f.String("issuer", "harness_example_cloud", "")
	other := f.Int("other", 0, "from this one on other receipts")
	same := f.Int("same", 0, "from this one on other contents under the same ids")
	if err := f.Parse(args); err != nil {
		return err
	}
	for _, text := range []*string{workspace, id} {
		var err error
		if *text, err = strconv.Unquote(`"` + *text + `"`); err != nil {
			return err
		}
	}
	var out bytes.Buffer
	var head chain.Head
	for i := 1; i <= *n; i++ {
		d := corpusDraft(i)
		d.ReceiptID = fmt.Sprintf("%s_%04d", *id, i)
		d.Issuer.ID, d.Identifiers.WorkspaceRef, d.Identifiers.TenantID = *issuer, *workspace, *tenant
		if *other > 0 && i >= *other {
			d.ReceiptID += "_b"
		}
		if *same > 0 && i >= *same {
			d.Cost.Total = 1
		}
		sealed, err := receipt.Seal(d, head)
		if err != nil {
			return err
		}
		if sealed, err = sealed.Sign(context.Background(), corpusSigner(ts)); err != nil {
			return err
		}
		head = sealed.Head()
		out.Write(append(sealed.JSON(), '\n'))
	}
	return os.WriteFile(ts.MkAbs(f.Arg(0)), out.Bytes(), 0o644)
}

func corpusDraft(i int) *receipt.Draft {
	at := receipt.At(time.Date(2026, 4, 25, 19, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Second))
	return &receipt.Draft{
		Subject:     receipt.ResourceRef{Object: "task", ID: "task"},
		Issuer:      receipt.Issuer{Kind: "harness"},
		IssuedAt:    at,
		Identifiers: receipt.Identifiers{SessionID: "s", TaskID: "task"},
		Lifecycle:   receipt.Lifecycle{StartedAt: at, CompletedAt: at, FinalState: "SUCCEEDED"},
		Trust:       receipt.TrustTiers{StartTier: "act_auto", EndTier: "act_auto"},
		ReplayInput: receipt.ReplayInput{Determinism: "best_effort"},
		ModelRoute:  receipt.ModelRoute{ChosenModel: receipt.Model{Provider: "p", Model: "m"}, RoutePolicyReason: "r"},
		Cost:        receipt.Cost{Currency: "USD"},
	}
}

func repack(ts *testscript.TestScript, args []string) error {
	data := []byte(ts.ReadFile(args[0]))
	var out bytes.Buffer
	var w io.WriteCloser
	switch filepath.Ext(args[1]) {
	case ".gz":
		w = gzip.NewWriter(&out)
	case ".zst":
		var err error
		if w, err = zstd.NewWriter(&out); err != nil {
			return err
		}
	default:
		codec := archive.NewCodec()
		for line := range bytes.Lines(data) {
			doc, err := canon.Parse(line)
			if err != nil {
				return err
			}
			item, err := codec.Append(nil, doc)
			if err != nil {
				return err
			}
			out.Write(item)
		}
		return os.WriteFile(ts.MkAbs(args[1]), out.Bytes(), 0o644)
	}
	if _, err := w.Write(data); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(ts.MkAbs(args[1]), out.Bytes(), 0o644)
}

func splitFiles(ts *testscript.TestScript, args []string) error {
	dir := ts.MkAbs(args[1])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i, line := range corpusLines(ts, args[0]) {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d.json", i+1)), []byte(line), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func corpusLines(ts *testscript.TestScript, path string) []string {
	return strings.SplitAfter(strings.TrimSuffix(ts.ReadFile(path), "\n"), "\n")
}

// corpusLeaves returns the leaf hashes of the receipts in a file.
func corpusLeaves(ts *testscript.TestScript, path string) (leaves []merkle.Hash) {
	for _, line := range corpusLines(ts, path) {
		sealed, err := receipt.ParseSealed([]byte(line))
		ts.Check(err)
		hash := sealed.Hash()
		leaves = append(leaves, merkle.LeafHash(hash[:]))
	}
	return leaves
}

// A corpusLog signs checkpoints as log_1.
type corpusLog struct {
	*tlog.Log
	key ed25519.PrivateKey
}

func (s corpusLog) Sign(msg []byte) ([]byte, error) { return ed25519.Sign(s.key, msg), nil }

func signCheckpoint(ts *testscript.TestScript, leaves []merkle.Hash) []byte {
	data, err := fixtures.Read("keys/log_1.private.json")
	ts.Check(err)
	var jwk struct{ D string }
	ts.Check(json.Unmarshal(data, &jwk))
	seed, err := base64.RawURLEncoding.DecodeString(jwk.D)
	ts.Check(err)
	key := ed25519.NewKeyFromSeed(seed)
	log, err := tlog.NewLog("log.example.net/receipts", key.Public().(ed25519.PublicKey))
	ts.Check(err)
	c := tlog.Checkpoint{Origin: log.Name(), Size: uint64(len(leaves)), Root: merkle.Root(leaves)}
	msg, err := note.Sign(&note.Note{Text: c.String()}, corpusLog{log, key})
	ts.Check(err)
	return msg
}

func makeCheckpoint(ts *testscript.TestScript, args []string) error {
	leaves := corpusLeaves(ts, args[0])
	if len(args) > 2 {
		n, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		leaves = leaves[:n]
	}
	return os.WriteFile(ts.MkAbs(args[1]), signCheckpoint(ts, leaves), 0o644)
}

func makeProof(ts *testscript.TestScript, args []string) error {
	leaves := corpusLeaves(ts, args[0])
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	p := tlog.Proof{Index: uint64(n - 1)}
	if p.Hashes, err = merkle.ProveInclusion(leaves, p.Index); err != nil {
		return err
	}
	p.Checkpoint = signCheckpoint(ts, leaves)
	return os.WriteFile(ts.MkAbs(args[2]), p.Format(), 0o644)
}

func makeBatch(ts *testscript.TestScript, args []string) error {
	var drafts []*canon.Document
	for _, line := range corpusLines(ts, args[0]) {
		text := line[:strings.Index(line, `"chain":`)] + line[strings.Index(line, `"cost":`):] // in canonical order
		text = text[:strings.Index(text, `"signatures":`)] + text[strings.Index(text, `"subject":`):]
		doc, err := canon.Parse([]byte(text))
		if err != nil {
			return err
		}
		drafts = append(drafts, doc)
	}
	b, err := batch.Seal(context.Background(), drafts, nil, corpusSigner(ts))
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for _, r := range b.Receipts {
		out.Write(append(r.JSON(), '\n'))
	}
	if err := os.WriteFile(ts.MkAbs(args[1]), out.Bytes(), 0o644); err != nil {
		return err
	}
	return os.WriteFile(ts.MkAbs(args[2]), b.Manifest.Marshal(), 0o644)
}
