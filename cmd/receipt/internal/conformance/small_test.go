package conformance_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/redact"
	"github.com/receiptkit/receiptkit/schemas"
)

// A small verifier returns one of these answers.
const (
	valid       = "valid"
	invalid     = "invalid"
	undecidable = "undecidable"
)

// errDeclined indicates that a small verifier does not support a case.
var errDeclined = errors.New("not supported")

// A small verifier supports what most callers need: receipts with Ed25519 keys, streams in order,
// checkpoints, proofs, archives, and disclosures. It does not use package receipt. The field fault
// names the single rule that the verifier does not check, or is "" if it checks all rules.
type small struct{ fault string }

// given represents the content of a case.
type given struct {
	receipts, proofs, disclosures [][]byte
	trust, checkpoint             []byte
	options                       map[string]any
	keys                          map[string]jwk
}

// answer reads a case and returns the verdict.
func (v small) answer(file string) (string, error) {
	g, err := read(file)
	if err != nil {
		return "", err
	}
	verdict, err := v.judge(g)
	if err == nil && verdict == undecidable && v.fault == "treats undecided as valid" {
		verdict = valid
	}
	return verdict, err
}

// read reads a case once for all verifiers, and declines cases that are not supported.
func read(file string) (*given, error) {
	f, _ := cases.LoadOrStore(file, sync.OnceValues(func() (*given, error) { return readOnce(file) }))
	return f.(func() (*given, error))()
}

var cases sync.Map

func readOnce(file string) (*given, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var c struct {
		Task    string
		Inputs  []struct{ Role, File string }
		Options map[string]any
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, err
	}

	g := &given{options: c.Options}
	for _, in := range c.Inputs {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(file), in.File))
		if err != nil {
			return nil, err
		}
		switch in.Role {
		case "receipts":
			g.receipts = append(g.receipts, data)
		case "proof":
			g.proofs = append(g.proofs, data)
		case "disclosures":
			g.disclosures = append(g.disclosures, data)
		case "trust":
			g.trust = data
		case "checkpoint":
			g.checkpoint = data
		default:
			return nil, errDeclined
		}
	}
	for name := range c.Options {
		if !slices.Contains([]string{"at", "issuer", "head", "count", "previous"}, name) {
			return nil, errDeclined
		}
	}
	if c.Task != "verify" || len(g.receipts) != 1 || g.trust == nil || len(g.proofs) > 1 {
		return nil, errDeclined
	}
	g.keys, err = keysOf(g)
	return g, err
}

// judge returns the worst of the verdicts for the receipts, their order, and the evidence of a
// case.
func (v small) judge(g *given) (string, error) {
	keys := g.keys
	list, verdict := v.split(g.receipts[0])
	var docs []*canon.Document
	for _, data := range list {
		doc, found, err := v.one(g, keys, data)
		if err != nil {
			return "", err
		}
		if doc != nil {
			docs = append(docs, doc)
		}
		verdict = worse(verdict, found)
	}

	if len(docs) == len(list) {
		for _, found := range []string{v.links(g, docs), v.logged(g, keys, docs), v.disclosed(g, docs)} {
			verdict = worse(verdict, found)
		}
	} else if n, ok := g.options["count"].(float64); ok && len(docs) > int(n) {
		return invalid, nil // regardless of the other documents
	}
	return verdict, nil
}

// worse returns the worse of two verdicts. The order, from worst to best, is invalid, undecidable,
// valid.
func worse(a, b string) string {
	for _, v := range []string{invalid, undecidable} {
		if a == v || b == v {
			return v
		}
	}
	return valid
}

// split returns the documents in an input and the verdict on the input's structure.
func (v small) split(data []byte) (list [][]byte, verdict string) {
	switch {
	case len(data) > 0 && data[0]>>5 == 5:
		return v.items(data)
	case bytes.Count(data, []byte("}\n{")) > 0 && bytes.HasPrefix(data, []byte("{")):
		return bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")), valid
	}
	return [][]byte{data}, valid
}

// items returns the items of a CBOR sequence as JSON.
func (v small) items(data []byte) (list [][]byte, verdict string) {
	if v.fault == "does not check canonical bytes of archives" {
		return lenientItems(data)
	}
	codec, r := archive.NewCodec(), archive.NewReader(bytes.NewReader(data))
	for {
		item, err := r.Next()
		if err == io.EOF {
			return list, valid
		}
		var text []byte
		if err == nil {
			text, err = codec.ToJSON(item)
		}
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF) && r.Damage() == nil:
			return list, undecidable // the end of the item is missing
		case err != nil:
			return list, invalid
		}
		list = append(list, text)
	}
}

// lenientItems decodes items with any spelling, including noncanonical ones.
func lenientItems(data []byte) (list [][]byte, verdict string) {
	mode, err := cbor.DecOptions{DefaultMapType: reflect.TypeFor[map[string]any]()}.DecMode()
	if err != nil {
		return nil, invalid
	}
	d := mode.NewDecoder(bytes.NewReader(data))
	for {
		var value map[string]any
		if err := d.Decode(&value); err == io.EOF {
			return list, valid
		} else if err != nil {
			return list, invalid
		}
		text, err := json.Marshal(value)
		if err != nil {
			return list, invalid
		}
		list = append(list, text)
	}
}

// receiptSchema returns the JSON Schema for receipts.
var receiptSchema = sync.OnceValues(func() (*schemas.Schema, error) { return schemas.Compile(schemas.Receipt) })

// one verifies a single receipt.
func (v small) one(g *given, keys map[string]jwk, data []byte) (*canon.Document, string, error) {
	if v.fault == "accepts duplicate members" { // keeps the last duplicate, as encoding/json does
		var value any
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		if d.Decode(&value) == nil {
			data, _ = json.Marshal(value)
		}
	}
	doc := new(canon.Document)
	if err := doc.Parse(data, canon.Limits{Depth: 128}); err != nil {
		return nil, invalid, nil
	}
	if _, lossy := doc.LossyInteger(); lossy && v.fault != "rounds large integers" {
		return nil, invalid, nil
	}
	root := doc.Root()
	if !root.Member("dsseEnvelope").IsZero() {
		return nil, "", errDeclined
	}

	if marker := root.Member("schema").String(); marker != "receipt-2026-04-25" && len(marker) == len("receipt-2026-04-25") {
		return nil, undecidable, nil
	}
	schema, err := receiptSchema()
	if err != nil {
		return nil, "", err
	}
	if v.fault != "ignores the schema" && schema.Check(root).Total > 0 {
		return nil, invalid, nil
	}

	link, ok := chain.LinkOf(doc)
	if !ok {
		return nil, invalid, nil
	}
	computed, err := v.hash(doc)
	if err != nil || computed != link.Hash && v.fault != "believes the stated hash" {
		return doc, invalid, nil
	}
	if v.fault != "ignores the bytes of materials" && !contained(root) {
		return doc, invalid, nil
	}
	verdict, err := v.signed(g, keys, doc)
	return doc, verdict, err
}

// contained reports whether the materials embedded in a receipt have the stated digests.
func contained(root canon.Node) bool {
	for _, m := range root.Member("replay_input").Member("materials").Elements() {
		text := m.Member("bytes_base64").String()
		data, err := base64.StdEncoding.Strict().DecodeString(text)
		if text != "" && (err != nil || strings.Contains(text, "\n") || canon.Sum(data).String() != m.Member("sha256").String()) {
			return false
		}
	}
	return true
}

// removed matches the parts of canonical text that the receipt hash does not cover.
var removed = regexp.MustCompile(`,"receipt_hash":"[^"]*"|"signatures":\[[^]]*\],|\n$`)

// hash computes the receipt hash.
func (v small) hash(doc *canon.Document) (canon.Digest, error) {
	switch v.fault {
	case "hashes the bytes instead of the canonical form":
		return canon.Sum(removed.ReplaceAll(doc.Source(), nil)), nil
	case "sorts names by code points":
		var value map[string]any
		d := json.NewDecoder(bytes.NewReader(doc.AppendCanonical(nil)))
		d.UseNumber()
		if err := d.Decode(&value); err != nil {
			return canon.Digest{}, err
		}
		delete(value, "signatures")
		delete(value["chain"].(map[string]any), "receipt_hash")
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		err := e.Encode(value)
		return canon.Sum(bytes.TrimSpace(b.Bytes())), err
	}
	return chain.Hash(doc)
}

// A jwk is an entry in a key set.
type jwk struct {
	Kid, Crv, X, Origin string
	Issuers, Roles      []string
	Nbf, Exp            *int64
	Revoked             *struct {
		At     int64
		Reason string
	}
	public ed25519.PublicKey
}

// has reports whether the key has the given role. A key without roles is an issuer's key.
func (k *jwk) has(role string) bool {
	return slices.Contains(k.Roles, role) || len(k.Roles) == 0 && role == "issuer"
}

// keysOf returns the keys for a case, indexed by ID.
func keysOf(g *given) (map[string]jwk, error) {
	var set struct{ Keys []jwk }
	if err := json.Unmarshal(g.trust, &set); err != nil {
		return nil, err
	}
	keys := map[string]jwk{}
	for _, k := range set.Keys {
		if k.Crv == "Ed25519" {
			raw, err := base64.RawURLEncoding.DecodeString(k.X)
			if err != nil {
				return nil, err
			}
			k.public = raw
		}
		if k.Revoked != nil && g.checkpoint != nil {
			return nil, errDeclined
		}
		keys[k.Kid] = k
	}
	return keys, nil
}

// signed verifies the signatures on a receipt.
func (v small) signed(g *given, keys map[string]jwk, doc *canon.Document) (string, error) {
	if v.fault == "ignores signatures" {
		return valid, nil
	}
	root := doc.Root()
	hash, named := root.Member("chain").Member("receipt_hash").String(), root.Member("issuer").Member("public_key_id").String()
	list := root.Member("signatures").Elements()
	met, barred := false, false
	entries := 0
	for _, e := range list {
		entries++
		id, alg, value := e.Member("key_id").String(), e.Member("algorithm").String(), e.Member("signature").String()
		if strings.HasPrefix(value, "jws:") || alg != "ed25519" && slices.Contains([]string{"EdDSA", "ES256", "ES384", "ES512", "RS256", "PS256"}, alg) {
			return "", errDeclined
		}
		if alg != "ed25519" {
			continue // not checked
		}
		sig, ok := v.decode(value)
		if !ok {
			return invalid, nil
		}
		k, known := keys[id]
		if !known {
			continue // not checked
		}
		message := []byte(hash)
		if k.public == nil || !ed25519.Verify(k.public, message, sig) {
			if v.fault == "checks only the first valid signature" && met {
				continue
			}
			return invalid, nil
		}
		counts, refutes := v.counts(g, &k, doc)
		if counts && (named == "" || named == id || v.fault == "ignores the key that the receipt names") {
			met = true
		}
		barred = barred || refutes && (named == "" || named == id || k.has("issuer"))
	}

	issuer, _ := g.options["issuer"].(string)
	switch {
	case issuer != "" && issuer != root.Member("issuer").Member("id").String():
		return invalid, nil
	case met:
		return valid, nil
	case g.checkpoint != nil && entries == 0:
		return "", errDeclined // a checkpoint may replace the signatures
	case barred:
		return invalid, nil
	}
	return undecidable, nil
}

// decode decodes the base64 text of a signature.
func (v small) decode(value string) ([]byte, bool) {
	text, ok := strings.CutPrefix(value, "base64:")
	if v.fault == "accepts any spelling of base64" {
		text = strings.NewReplacer("-", "+", "_", "/", "\n", "", "=", "").Replace(text)
		sig, err := base64.RawStdEncoding.DecodeString(text)
		return sig, ok && err == nil && len(sig) == ed25519.SignatureSize
	}
	sig, err := base64.StdEncoding.Strict().DecodeString(text)
	return sig, ok && err == nil && len(sig) == ed25519.SignatureSize && !strings.ContainsAny(text, "\r\n")
}

// counts reports whether, at the time of a receipt, a key may speak for the receipt's issuer. If
// not, the second result reports whether that refutes the receipt.
func (v small) counts(g *given, k *jwk, doc *canon.Document) (counts, refutes bool) {
	root := doc.Root()
	when := root.Member("issued_at").String()
	if at, ok := g.options["at"].(string); ok {
		when = at
	}
	t, err := time.Parse(time.RFC3339, when)
	if err != nil {
		return false, true
	}
	if !k.has("issuer") && v.fault != "ignores the roles of keys" {
		return false, root.Member("issuer").Member("public_key_id").String() == k.Kid
	}

	issuer := root.Member("issuer").Member("id").String()
	speaks := slices.Contains(k.Issuers, issuer)
	if k.Issuers == nil {
		required, _ := g.options["issuer"].(string)
		if required != issuer && v.fault != "lets unbound keys speak for anybody" {
			return false, false
		}
		speaks = true
	}
	if v.fault == "ignores the issuers of keys" {
		speaks = true
	}
	if v.fault != "ignores the validity of keys" && (k.Nbf != nil && t.Unix() < *k.Nbf || k.Exp != nil && t.Unix() >= *k.Exp) {
		return false, true
	}
	if k.Revoked != nil && v.fault != "ignores revocations" && (k.Revoked.Reason != "superseded" || t.Unix() >= k.Revoked.At) {
		return false, true
	}
	return speaks, !speaks
}

// links checks the order of receipts and the expectations of the caller.
func (v small) links(g *given, docs []*canon.Document) string {
	if v.fault == "ignores links" {
		return valid
	}
	heads, ids, seen := map[chain.Stream]canon.Digest{}, map[string]canon.Digest{}, map[canon.Digest]bool{}
	previous, given := g.options["previous"].(string)
	distinct := 0
	var last canon.Digest
	for i, doc := range docs {
		link, _ := chain.LinkOf(doc)
		id := doc.Root().Member("receipt_id").String()
		if seen[link.Hash] {
			continue
		}
		if other, taken := ids[id]; taken && other != link.Hash && v.fault != "ignores repeated ids" {
			return invalid
		}
		stream := chain.StreamOf(doc)
		head, begun := heads[stream]
		switch {
		case begun && (link.First || link.Previous != head):
			return invalid
		case i == 0 && given && (link.First || link.Previous.String() != previous):
			return invalid
		case !link.First && link.Previous == canon.Digest{}:
			return invalid
		}
		heads[stream], ids[id], seen[link.Hash], last = link.Hash, link.Hash, true, link.Hash
		distinct++
	}

	if v.fault == "ignores the expected end" {
		return valid
	}
	if head, ok := g.options["head"].(string); ok && head != last.String() {
		return invalid
	}
	if n, ok := g.options["count"].(float64); ok && int(n) != distinct {
		return invalid
	}
	return valid
}

// logged verifies a checkpoint that covers all receipts, or an inclusion proof for one receipt.
func (v small) logged(g *given, keys map[string]jwk, docs []*canon.Document) string {
	if v.fault == "ignores checkpoints and proofs" {
		return valid
	}
	var leaves []merkle.Hash
	for _, doc := range docs {
		link, _ := chain.LinkOf(doc)
		leaves = append(leaves, merkle.LeafHash(link.Hash[:]))
	}
	if len(g.proofs) == 1 {
		return v.proved(keys, leaves[0], g.proofs[0])
	}
	if g.checkpoint == nil {
		return valid
	}

	c, verdict := v.open(keys, g.checkpoint)
	n := uint64(len(leaves))
	switch {
	case verdict != valid:
		return verdict
	case v.fault == "ignores the size of checkpoints":
		if c.Root == merkle.Root(leaves) {
			return valid
		}
		return invalid
	case c.Size > n || c.Root != merkle.Root(leaves[:c.Size]):
		return invalid
	case c.Size < n:
		return undecidable
	}
	return valid
}

// proved verifies an inclusion proof.
func (v small) proved(keys map[string]jwk, leaf merkle.Hash, text []byte) string {
	p, err := tlog.ParseProof(text)
	if err != nil {
		return invalid
	}
	c, verdict := v.open(keys, p.Checkpoint)
	if verdict != valid {
		return verdict
	}
	included := func(index, size uint64) bool {
		return merkle.CheckInclusion(leaf, index, size, p.Hashes, c.Root) == nil
	}
	for i := range uint64(64) {
		if v.fault == "accepts a wrong index" && i < c.Size && included(i, c.Size) || v.fault == "ignores the size in proofs" && included(p.Index, i) {
			return valid
		}
	}
	if !included(p.Index, c.Size) {
		return invalid
	}
	return valid
}

// open verifies a checkpoint with the keys of logs and witnesses.
func (v small) open(keys map[string]jwk, msg []byte) (*tlog.Signed, string) {
	var logs []*tlog.Log
	var witnesses []*tlog.Witness
	for _, k := range keys {
		if k.has("checkpoint") && k.public != nil {
			log, err := tlog.NewLog(k.Origin, k.public)
			if err != nil {
				return nil, invalid
			}
			logs = append(logs, log)
		}
		if k.has("witness") && k.public != nil {
			w, err := tlog.NewWitness(k.Kid, k.public)
			if err != nil {
				return nil, invalid
			}
			witnesses = append(witnesses, w)
		}
	}
	c, err := tlog.OpenSigned(msg, logs, witnesses)
	switch {
	case err != nil:
		return nil, invalid
	case len(c.Logs) == 0 && v.fault != "trusts every log":
		return nil, undecidable
	}
	return c, valid
}

// disclosed verifies the disclosed values of a receipt.
func (v small) disclosed(g *given, docs []*canon.Document) string {
	for _, data := range g.disclosures {
		d, err := redact.ParseDisclosures(data)
		if err != nil || len(docs) != 1 {
			return invalid
		}
		link, _ := chain.LinkOf(docs[0])
		if d.ReceiptHash != (canon.Digest{}) && d.ReceiptHash != link.Hash {
			return undecidable
		}
		for _, shown := range d.Fields {
			if !v.committed(docs[0], shown) {
				return invalid
			}
		}
		if v.fault != "ignores contradictions of disclosed values" && redact.Consistent(docs[0], d.Fields) != nil {
			return invalid
		}
	}
	return valid
}

// committed reports whether a receipt contains a commitment to a value.
func (v small) committed(doc *canon.Document, shown redact.Disclosure) bool {
	want := shown.Commitment()
	if v.fault == "ignores the salt of disclosures" {
		want = redact.Disclosure{Field: shown.Field, Value: shown.Value}.Commitment()
	}
	for _, e := range doc.Root().Member("redactions").Elements() {
		if e.Member("field").String() != shown.Field {
			continue
		}
		if v.fault == "ignores commitments" || e.Member("proof_hash").String() == "sha256:"+hex.EncodeToString(want[:]) {
			return true
		}
	}
	return false
}
