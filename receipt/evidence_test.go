package receipt_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/schemas"
)

// TestProofs verifies the results for proofs in which one part is damaged.
func TestProofs(t *testing.T) {
	keys := logKeys()
	good := forge(t, plainDraft(), keep, keys["a"])
	other := forge(t, plainDraft(), func(o map[string]any) { o["receipt_id"] = "receipt_2" }, keys["a"])
	hash := hashOf(t, good)
	edit := func(f func(p *tlog.Proof)) *tlog.Proof {
		p := keys.prove(t, good, "log1 w1@0")
		f(p)
		return p
	}
	note := func(old, new string) *tlog.Proof {
		return edit(func(p *tlog.Proof) {
			changed := strings.Replace(string(p.Checkpoint), old, new, 1)
			if changed == string(p.Checkpoint) {
				t.Fatalf("nothing to replace: %q", old)
			}
			p.Checkpoint = []byte(changed)
		})
	}
	line := func(p *tlog.Proof, name string) string { // returns the signature line with the given name
		at := strings.Index(string(p.Checkpoint), "— "+name)
		return string(p.Checkpoint)[at : at+strings.Index(string(p.Checkpoint)[at:], "\n")+1]
	}
	falseLine := func(p *tlog.Proof, name string) {
		fields := strings.Fields(line(p, name))
		payload, err := base64.StdEncoding.DecodeString(fields[2])
		if err != nil {
			t.Fatal(err)
		}
		payload[len(payload)-1] ^= 1
		p.Checkpoint = bytes.Replace(p.Checkpoint, []byte(fields[2]), []byte(base64.StdEncoding.EncodeToString(payload)), 1)
	}
	// leafOf returns a proof for a leaf other than the receipt's leaf.
	leafOf := func(leaf merkle.Hash) *tlog.Proof {
		leaves := []merkle.Hash{merkle.LeafHash([]byte("x")), leaf, merkle.LeafHash([]byte("y"))}
		path, err := merkle.ProveInclusion(leaves, 1)
		if err != nil {
			t.Fatal(err)
		}
		return &tlog.Proof{Index: 1, Hashes: path, Checkpoint: keys.checkpointOf(t, "log1", 3, merkle.Root(leaves))}
	}
	forked := func(how string) *tlog.Proof { // another tree of five leaves
		leaves := leavesWith(t, good)
		leaves[0] = merkle.LeafHash([]byte("another"))
		path, err := merkle.ProveInclusion(leaves, 3)
		if err != nil {
			t.Fatal(err)
		}
		return &tlog.Proof{Index: 3, Hashes: path, Checkpoint: keys.checkpointOf(t, how, 5, merkle.Root(leaves))}
	}
	of := func(list ...*tlog.Proof) []*tlog.Proof { return list }
	fits, of2 := keys.prove(t, good, "log1"), keys.prove(t, other, "log2")
	invalid := refuted(receipt.StepBatch, receipt.CodeProofInvalid, "")
	faulty := refuted(receipt.StepBatch, receipt.CodeCheckpointInvalid, "")
	unknown := undecided(receipt.StepBatch, receipt.CodeUnknownKey, "")
	for name, c := range map[string]struct {
		proofs []*tlog.Proof
		want   outcome
	}{
		"good":                        {of(fits), verified()},
		"extra is opaque":             {of(edit(func(p *tlog.Proof) { p.Extra = []byte("anything") })), verified()},
		"extension lines":             {of(keys.prove(t, good, "log1 w1@0", "extension", "another")), verified()},
		"one of two":                  {of(of2, fits), verified()},
		"another receipt's":           {of(keys.prove(t, other, "log1")), invalid},
		"two other receipts'":         {of(keys.prove(t, other, "log1"), of2), invalid},
		"another receipt's, stranger": {of(keys.prove(t, other, "stranger")), undecided(receipt.StepBatch, receipt.CodeUnknownKey, "")},
		"another index":               {of(edit(func(p *tlog.Proof) { p.Index = 2 })), invalid},
		"index at the size":           {of(edit(func(p *tlog.Proof) { p.Index = 5 })), invalid},
		"index far away":              {of(edit(func(p *tlog.Proof) { p.Index = math.MaxUint64 })), invalid},
		"no hashes":                   {of(edit(func(p *tlog.Proof) { p.Hashes = nil })), invalid},
		"one hash short":              {of(edit(func(p *tlog.Proof) { p.Hashes = p.Hashes[1:] })), invalid},
		"one hash long":               {of(edit(func(p *tlog.Proof) { p.Hashes = append(p.Hashes, merkle.Hash{}) })), invalid},
		"many hashes":                 {of(edit(func(p *tlog.Proof) { p.Hashes = make([]merkle.Hash, 10_000) })), invalid},
		"order swapped":               {of(edit(func(p *tlog.Proof) { p.Hashes[0], p.Hashes[1] = p.Hashes[1], p.Hashes[0] })), invalid},
		"text of the hash":            {of(leafOf(merkle.LeafHash([]byte(hash.String())))), invalid},
		"bare hash":                   {of(leafOf(merkle.Hash(hash))), invalid},
		"whole receipt":               {of(leafOf(merkle.LeafHash(good))), invalid},
		"content":                     {of(leafOf(receipt.BatchLeaf(parsed(t, good)))), invalid},
		"inner node": {of(leafOf(merkle.NodeHash(merkle.LeafHash([]byte("x")),
			receipt.CheckpointLeaf(hash)))), invalid},

		"stranger":             {of(keys.prove(t, good, "stranger w1@0")), unknown},
		"stranger beside":      {of(keys.prove(t, good, "stranger"), fits), verified()},
		"two logs' signatures": {of(keys.prove(t, good, "log1 log2")), verified()},
		"another origin":       {of(keys.prove(t, good, "stranger log1 log2 own")), unknown},
		"no signature":         {of(edit(func(p *tlog.Proof) { p.Checkpoint = p.Checkpoint[:bytes.Index(p.Checkpoint, []byte("\n\n"))+2] })), faulty},
		"no checkpoint":        {of(edit(func(p *tlog.Proof) { p.Checkpoint = nil })), faulty},
		"only cosigned": {of(edit(func(p *tlog.Proof) {
			p.Checkpoint = []byte(strings.Replace(string(p.Checkpoint), line(p, "log.example/1"), "", 1))
		})), unknown},
		"false log":                 {of(edit(func(p *tlog.Proof) { falseLine(p, "log.example/1") })), faulty},
		"false witness":             {of(edit(func(p *tlog.Proof) { falseLine(p, "w1") })), faulty},
		"false witness, good proof": {of(edit(func(p *tlog.Proof) { falseLine(p, "w1") }), fits), faulty},
		"false, of another receipt": {of(func() *tlog.Proof { p := keys.prove(t, other, "log2"); falseLine(p, "log.example/2"); return p }(), fits), verified()},
		"false, of no receipt":      {of(func() *tlog.Proof { p := keys.prove(t, other, "log2"); falseLine(p, "log.example/2"); return p }()), faulty},
		"another size":              {of(note("\n5\n", "\n6\n")), faulty},
		"size spelled otherwise":    {of(note("\n5\n", "\n05\n")), faulty},
		"another origin's text":     {of(note("log.example/1\n", "log.example/2\n")), faulty},
		"extension added":           {of(note("\n\n", "\nmore\n\n")), faulty},
		"carriage return":           {of(note("\n5\n", "\n5\r\n")), faulty},
		"100 lines":                 {of(edit(func(p *tlog.Proof) { p.Checkpoint = append(p.Checkpoint, strangers(98)...) })), verified()},
		"101 lines":                 {of(edit(func(p *tlog.Proof) { p.Checkpoint = append(p.Checkpoint, strangers(99)...) })), faulty},
		"fork":                      {of(fits, forked("log1")), faulty},
		"fork, told thrice":         {of(fits, forked("log1"), keys.prove(t, good, "log1 w1@0")), faulty},
		"fork between logs' keys":   {of(fits, forked("log1next")), faulty},
		"two logs, one size":        {of(fits, forked("log2")), verified()},
		"fork of a stranger's":      {of(fits, forked("stranger")), verified()},
		"fork, nobody's word": {of(fits, func() *tlog.Proof {
			p := forked("log1")
			p.Checkpoint = append(bytes.SplitAfter(p.Checkpoint, []byte("\n\n"))[0], strangers(1)...)
			return p
		}()), verified()},
	} {
		rep := verify(with(t, verifier(t, keys, receipt.Policy{}), receipt.Evidence{Proofs: c.proofs}), good)
		if got := outcomeOf(rep); got != c.want {
			t.Errorf("%s: %v, want %v: %+v", name, got, c.want, rep.Finding())
		}
		if slices.ContainsFunc(rep.NotChecked, func(n receipt.Note) bool { return n.Code == "unknown_cosigners" }) != (name == "100 lines") {
			t.Errorf("%s: not checked %+v", name, rep.NotChecked)
		}
	}
	if rep := verify(with(t, verifier(t, ring{"a": keys["a"]}, receipt.Policy{}), proofs(fits)), good); outcomeOf(rep) != unknown {
		t.Errorf("a trust without logs: %v", outcomeOf(rep))
	}
	if rep := verify(with(t, verifier(t, &believer{keys["a"].Key}, receipt.Policy{}), proofs(fits)), good); outcomeOf(rep) != unknown {
		t.Errorf("a trust that knows no logs: %v", outcomeOf(rep))
	}
}

func strangers(n int) (lines []byte) {
	for i := range n {
		lines = fmt.Appendf(lines, "— stranger.example/%d AAAAAAAA\n", i)
	}
	return lines
}

func parsed(t testing.TB, data []byte) *canon.Document {
	t.Helper()
	doc, err := canon.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestWithin verifies that a checkpoint for an entire input is evaluated like a checkpoint with a
// proof, and is also compared with the other evidence.
func TestWithin(t *testing.T) {
	keys := logKeys()
	data := forge(t, plainDraft(), keep)
	leaf := receipt.CheckpointLeaf(hashOf(t, data))
	v := verifier(t, keys, receipt.Policy{})
	fork := keys.prove(t, data, "own")
	for how, want := range map[string]outcome{
		"own":    verified(),
		"log1":   undecided(receipt.StepSignatures, receipt.CodeUnsigned, "/signatures"),
		"nobody": undecided(receipt.StepBatch, receipt.CodeUnknownKey, ""),
	} {
		whole := v.OpenCheckpoint(keys.checkpointOf(t, how, 1, leaf))
		if got := outcomeOf(verify(with(t, v, receipt.Evidence{Checkpoint: whole}), data)); got != want {
			t.Errorf("%s: %v, want %v", how, got, want)
		}
	}
	whole := v.OpenCheckpoint(keys.checkpointOf(t, "own", 5, leaf)) // same size as the other checkpoint
	if got, want := outcomeOf(verify(with(t, with(t, v, proofs(fork)), receipt.Evidence{Checkpoint: whole}), data)), refuted(receipt.StepBatch, receipt.CodeCheckpointInvalid, ""); got != want {
		t.Errorf("fork: %v, want %v", got, want)
	}
	if got := outcomeOf(verify(with(t, v, receipt.Evidence{Checkpoint: whole}), data)); got != verified() || whole.Fault != "" {
		t.Errorf("the checkpoint itself was changed: %v, %q", got, whole.Fault)
	}
	// An unreadable checkpoint includes nothing, so a matching proof decides the result.
	unreadable := v.OpenCheckpoint([]byte("no checkpoint"))
	if got := outcomeOf(verify(with(t, with(t, v, proofs(fork)), receipt.Evidence{Checkpoint: unreadable}), data)); got != verified() {
		t.Errorf("with an unreadable checkpoint: %v", got)
	}
	if got, want := outcomeOf(verify(with(t, v, receipt.Evidence{Checkpoint: unreadable}), data)), refuted(receipt.StepBatch, receipt.CodeCheckpointInvalid, ""); got != want {
		t.Errorf("one that cannot be read: %v, want %v", got, want)
	}
	for _, c := range []struct {
		opened                   *receipt.Checkpoint
		signed, readable, faulty bool
	}{
		{whole, true, true, false},
		{v.OpenCheckpoint(keys.checkpointOf(t, "nobody", 5, leaf)), false, true, false},
		{v.OpenCheckpoint(bytes.Replace(keys.checkpointOf(t, "own", 5, leaf), []byte("\n5\n"), []byte("\n6\n"), 1)), false, true, true},
		{unreadable, false, false, true},
	} {
		if ok := c.opened.Readable; c.opened.Signed != c.signed || ok != c.readable || (c.opened.Fault != "") != c.faulty {
			t.Errorf("signed %t, readable %t, fault %q; want %+v", c.opened.Signed, ok, c.opened.Fault, c)
		}
	}

	// If a checkpoint could not be compared, the receipt is undecided, regardless of evidence that
	// is added with it or before it.
	outside := receipt.Evidence{Uncompared: "x"}
	for name, v := range map[string]*receipt.Verifier{
		"alone":          with(t, v, outside),
		"with files":     with(t, v, receipt.Evidence{Uncompared: "x", Materials: fakeMaterials{}}),
		"after files":    with(t, with(t, v, receipt.Evidence{Materials: fakeMaterials{}}), outside),
		"told only once": with(t, with(t, v, outside), receipt.Evidence{Uncompared: "y"}),
	} {
		if got, want := outcomeOf(verify(v, data)), undecided(receipt.StepBatch, "checkpoint_required", ""); got != want {
			t.Errorf("outside, %s: %v, want %v", name, got, want)
		}
	}

	// A proof shows that the checkpoint includes the receipt if the proof leads to the checkpoint's
	// tree. A proof that leads to a larger or smaller tree proves nothing, and a different tree of
	// the same size is a fork.
	for name, c := range map[string]struct {
		checkpoint []byte
		want       outcome
	}{
		"the proof's":  {fork.Checkpoint, verified()},
		"another's":    {keys.checkpointOf(t, "own", 9, leaf), undecided(receipt.StepBatch, "checkpoint_required", "")},
		"not trusted":  {keys.checkpointOf(t, "nobody", 9, leaf), undecided(receipt.StepBatch, receipt.CodeUnknownKey, "")},
		"of two trees": {keys.checkpointOf(t, "own", 5, leaf), refuted(receipt.StepBatch, receipt.CodeCheckpointInvalid, "")},
	} {
		given := receipt.Evidence{Checkpoint: v.OpenCheckpoint(c.checkpoint), Uncompared: "x"}
		if got := outcomeOf(verify(with(t, with(t, v, proofs(fork)), given), data)); got != c.want {
			t.Errorf("not compared, %s: %v, want %v", name, got, c.want)
		}
	}

	// A proof for another receipt does not refute a receipt that an unknown log covers.
	other := forge(t, plainDraft(), func(o map[string]any) { o["receipt_id"] = "receipt_other" }, keys["a"])
	for log, want := range map[string]outcome{
		"own":    refuted(receipt.StepBatch, receipt.CodeProofInvalid, ""),
		"nobody": undecided(receipt.StepBatch, receipt.CodeUnknownKey, ""),
	} {
		given := receipt.Evidence{Checkpoint: v.OpenCheckpoint(keys.checkpointOf(t, log, 9, leaf)), Uncompared: "x"}
		if got := outcomeOf(verify(with(t, with(t, v, proofs(fork)), given), other)); got != want {
			t.Errorf("the proof of another, %s: %v, want %v", log, got, want)
		}
	}

	// No evidence can be added after a checkpoint that was not compared.
	if _, err := with(t, v, outside).With(receipt.Evidence{Materials: fakeMaterials{}}); err == nil {
		t.Error("evidence after a checkpoint that was not compared")
	}
	if _, err := v.With(receipt.Evidence{Checkpoint: new(receipt.Checkpoint)}); err == nil {
		t.Error("accepted a checkpoint that was not opened")
	}
}

// TestProofOfEveryBit verifies that no bit of a proof file can change without detection if every
// part of the file is required.
func TestProofOfEveryBit(t *testing.T) {
	keys := logKeys()
	data := forge(t, plainDraft(), keep, keys["a"])
	file := keys.prove(t, data, "log1 w1@0").Format()
	v := verifier(t, keys, receipt.Policy{Checkpoint: receipt.CheckpointRule{Required: true, Cosigners: receipt.Quorum{Threshold: 1}}})
	doc, rep := new(canon.Document), new(receipt.Report)
	verdict := func(file []byte) receipt.Verdict {
		p, err := tlog.ParseProof(file)
		if err != nil {
			return receipt.Refuted
		}
		with(t, v, proofs(p)).VerifyBytes(data, doc, rep)
		return rep.Verdict
	}
	if got := verdict(file); got != receipt.Verified {
		t.Fatalf("%v: %+v", got, rep.Finding())
	}
	for bit := range len(file) * 8 {
		last := bytes.ContainsAny(file[bit/8:min(bit/8+2, len(file))], "=\n") // the end of a base64 string has unused bits
		if !testsize.Full() && bit%5 != 0 && !last {
			continue
		}
		bad := bytes.Clone(file)
		bad[bit/8] ^= 1 << (bit % 8)
		if verdict(bad) == receipt.Verified {
			t.Errorf("bit %d of byte %d, %q: verified", bit%8, bit/8, file[bit/8])
		}
	}
	for n := range file {
		if verdict(file[:n]) == receipt.Verified {
			t.Errorf("cut to %d bytes: verified", n)
		}
	}
}

func TestCheckpointRule(t *testing.T) {
	keys := logKeys()
	data := forge(t, plainDraft(), keep, keys["a"])
	rooted := forge(t, plainDraft(), func(o map[string]any) { o["chain"].(map[string]any)["merkle_root"] = canon.Sum(nil).String() }, keys["a"])
	required := receipt.Policy{Checkpoint: receipt.CheckpointRule{Required: true}}
	quorum := receipt.Policy{Checkpoint: receipt.CheckpointRule{Cosigners: receipt.Quorum{Threshold: 1}}}
	missing := undecided(receipt.StepBatch, "checkpoint_required", "")
	for name, c := range map[string]struct {
		data     []byte
		policy   receipt.Policy
		evidence receipt.Evidence
		want     outcome
		notes    string // codes for the checks that were not made
	}{
		"not asked for":        {data, receipt.Policy{}, receipt.Evidence{}, verified(), "link_not_checked unauthenticated_members"},
		"asked for":            {data, required, receipt.Evidence{}, missing, "link_not_checked checkpoint_required unauthenticated_members"},
		"asked for, rooted":    {rooted, required, receipt.Evidence{}, missing, "link_not_checked checkpoint_required batch_not_checked unauthenticated_members"},
		"asked for, shown":     {data, required, proofs(keys.prove(t, data, "log1")), verified(), "link_not_checked unauthenticated_members"},
		"quorum asks too":      {data, quorum, receipt.Evidence{}, missing, "link_not_checked checkpoint_required unauthenticated_members"},
		"quorum":               {data, quorum, proofs(keys.prove(t, data, "log1 w1@0")), verified(), "link_not_checked unauthenticated_members"},
		"in a batch only":      {data, required, receipt.Evidence{Batches: []receipt.Batch{batchOf(t, data)}}, refuted(receipt.StepBatch, receipt.CodeMerkleRootMismatch, "/chain"), "link_not_checked checkpoint_required unauthenticated_members"},
		"rooted, shown":        {rooted, required, proofs(keys.prove(t, rooted, "log1")), verified(), "link_not_checked batch_not_checked unauthenticated_members"},
		"rooted, not shown":    {rooted, required, proofs(keys.prove(t, rooted, "stranger")), undecided(receipt.StepBatch, receipt.CodeUnknownKey, ""), "link_not_checked unknown_key batch_not_checked unauthenticated_members"},
		"unknown cosigners":    {data, required, proofs(keys.prove(t, data, "log1 x@0 y@0")), verified(), "link_not_checked unknown_cosigners unauthenticated_members"},
		"short, and strangers": {data, quorum, proofs(keys.prove(t, data, "log1 x@0")), undecided(receipt.StepBatch, "threshold_not_met", ""), "link_not_checked threshold_not_met unauthenticated_members"},
	} {
		rep := verify(with(t, verifier(t, keys, c.policy), c.evidence), c.data)
		if got := outcomeOf(rep); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		var notes []string
		for _, n := range rep.NotChecked {
			notes = append(notes, string(n.Code))
		}
		if got := strings.Join(notes, " "); got != c.notes {
			t.Errorf("%s: not checked %q, want %q", name, got, c.notes)
		}
	}
	strict := verifier(t, keys, receipt.Policy{Strict: true})
	rep := verify(with(t, strict, proofs(keys.prove(t, rooted, "log1"))), rooted)
	if c := rep.Check(receipt.StepBatch); c.Status != receipt.StatusNotChecked || c.Code != receipt.CodeBatchNotChecked {
		t.Errorf("strict, with a root whose batch is absent: %+v", c)
	}
	rep = verify(with(t, strict, proofs(keys.prove(t, data, "log1"))), data)
	if c := rep.Check(receipt.StepBatch); c.Status != receipt.StatusPassed {
		t.Errorf("strict: %+v", c)
	}
	rep = verify(with(t, verifier(t, keys, quorum), proofs(keys.prove(t, data, "log1 wlate@0 x@0"))), data)
	if got := rep.Finding().Detail; !strings.Contains(got, "0 of 1") || !strings.Contains(got, `"wlate" was valid before`) {
		t.Errorf("%q", got)
	}
}

// A batch implements receipt.Batch for tests.
type batch struct {
	leaves map[string]merkle.Hash
	hashes map[string]canon.Digest
	root   canon.Digest
}

func (b *batch) Root() canon.Digest { return b.root }

func (b *batch) Find(id []byte) (merkle.Hash, canon.Digest, bool) {
	leaf, ok := b.leaves[string(id)]
	return leaf, b.hashes[string(id)], ok
}

func (b *batch) Explain(stated canon.Digest) string {
	if stated == canon.Sum([]byte("doubled")) {
		return "the older tree"
	}
	return ""
}

func batchOf(t testing.TB, receipts ...[]byte) *batch {
	t.Helper()
	b := &batch{leaves: map[string]merkle.Hash{}}
	var tree merkle.Tree
	for _, data := range receipts {
		doc := parsed(t, data)
		leaf := receipt.BatchLeaf(doc)
		b.leaves[doc.Root().Member("receipt_id").String()] = leaf
		tree.Append(leaf)
	}
	b.root = canon.Digest(tree.Root())
	return b
}

func TestBatches(t *testing.T) {
	keys := logKeys()
	make2 := func(id string, root *canon.Digest, edit func(map[string]any)) []byte {
		return forge(t, plainDraft(), func(o map[string]any) {
			o["receipt_id"] = id
			if root != nil {
				o["chain"].(map[string]any)["merkle_root"] = root.String()
			}
			edit(o)
		}, keys["a"])
	}
	b := batchOf(t, make2("r1", nil, keep), make2("r2", nil, keep))
	foreign := batchOf(t, make2("r1", nil, func(o map[string]any) { o["metadata"] = map[string]any{"x": 1} }), make2("r9", nil, keep))
	lost := &batch{leaves: map[string]merkle.Hash{}, root: b.root}
	doubled := canon.Sum([]byte("doubled"))
	r1 := make2("r1", &b.root, keep)
	b.hashes = map[string]canon.Digest{"r1": hashOf(t, r1)}
	hashed := func(hash canon.Digest) *batch {
		return &batch{b.leaves, map[string]canon.Digest{"r1": hash}, b.root}
	}
	otherHash := refuted(receipt.StepBatch, receipt.CodeMerkleRootMismatch, "/chain/receipt_hash")
	altered := make2("r1", &b.root, func(o map[string]any) { o["metadata"] = map[string]any{"x": 1} })
	if receipt.BatchLeaf(parsed(t, r1)) != b.leaves["r1"] {
		t.Fatal("the root is part of the leaf")
	}
	mismatch := refuted(receipt.StepBatch, receipt.CodeMerkleRootMismatch, "/chain/merkle_root")
	absent := undecided(receipt.StepBatch, "not_in_batch", "")
	of := func(list ...receipt.Batch) []receipt.Batch { return list }
	for name, c := range map[string]struct {
		data    []byte
		batches []receipt.Batch
		proof   string
		want    outcome
	}{
		"in it":                         {r1, of(b), "", verified()},
		"in one of two":                 {r1, of(foreign, b), "", verified()},
		"another hash listed":           {r1, of(hashed(doubled)), "", otherHash},
		"zeros listed":                  {r1, of(hashed(canon.Digest{})), "", otherHash},
		"in one of two, first":          {r1, of(b, foreign), "", verified()},
		"other content":                 {altered, of(b), "", mismatch},
		"other content, listed beside":  {altered, of(b, foreign), "", mismatch},
		"root, not listed":              {r1, of(lost), "", mismatch},
		"same root twice":               {r1, of(lost, b), "", verified()},
		"root of an unlisted id":        {make2("r3", &b.root, keep), of(b), "", mismatch},
		"another root":                  {make2("r1", &foreign.root, keep), of(b), "", mismatch},
		"older tree's root":             {make2("r1", &doubled, keep), of(b), "", mismatch},
		"no root":                       {make2("r1", nil, keep), of(b), "", refuted(receipt.StepBatch, receipt.CodeMerkleRootMismatch, "/chain")},
		"neither":                       {make2("r3", nil, keep), of(b), "", absent},
		"neither, with a root":          {make2("r3", &doubled, keep), of(b, foreign), "", absent},
		"both kinds":                    {r1, of(b), "log1", verified()},
		"both kinds, no proof":          {r1, of(b), "stranger", undecided(receipt.StepBatch, receipt.CodeUnknownKey, "")},
		"both kinds, no batch":          {make2("r3", nil, keep), of(b), "log1", absent},
		"both kinds, false batch":       {altered, of(b), "log1", mismatch},
		"both kinds, batch false worst": {altered, of(b), "stranger", mismatch},
	} {
		e := receipt.Evidence{Batches: c.batches}
		if c.proof != "" {
			e.Proofs = append(e.Proofs, keys.prove(t, c.data, c.proof))
		}
		rep := verify(with(t, verifier(t, keys, receipt.Policy{}), e), c.data)
		if got := outcomeOf(rep); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if unlisted := name == "root, not listed" || name == "root of an unlisted id"; strings.Contains(rep.Finding().Detail, "does not list") != unlisted {
			t.Errorf("%s: %q", name, rep.Finding().Detail)
		}
		if hint := rep.Finding().Hint; (hint == "the older tree") != (name == "older tree's root") {
			t.Errorf("%s: hint %q", name, hint)
		}
		plain := verify(with(t, verifier(t, keys, receipt.Policy{Plain: true}), e), c.data)
		if !reflect.DeepEqual(plain.Checks, rep.Checks) || plain.Verdict != rep.Verdict {
			t.Errorf("%s, plain: %+v, want %+v", name, plain.Checks, rep.Checks)
		}
		integrity := verify(with(t, verifier(t, nil, receipt.Policy{IntegrityOnly: true}), receipt.Evidence{Batches: c.batches}), c.data)
		if (integrity.Verdict == receipt.Verified) != (c.want == verified() || name == "both kinds, no proof") {
			t.Errorf("%s, integrity only: %v", name, outcomeOf(integrity))
		}
	}
	// If the hash does not match, no result is reported for the batch.
	bad := bytes.Replace(r1, []byte(`"currency":"USD"`), []byte(`"currency":"EUR"`), 1)
	if c := verify(with(t, verifier(t, keys, receipt.Policy{}), receipt.Evidence{Batches: of(b)}), bad).Check(receipt.StepBatch); c.Status != receipt.StatusNotChecked || c.Code != "step_not_reached" {
		t.Errorf("%+v", c)
	}
	unshaped := make2("r1", &b.root, func(o map[string]any) { o["chain"].(map[string]any)["merkle_root"] = 1 })
	if rep := verify(with(t, verifier(t, keys, receipt.Policy{}), receipt.Evidence{Batches: of(b), Proofs: []*tlog.Proof{keys.prove(t, unshaped, "log1")}}), unshaped); rep.Check(receipt.StepBatch).Code != "step_not_reached" {
		t.Errorf("schema: %+v", rep.Checks)
	}
}

func TestWithRefuses(t *testing.T) {
	keys := logKeys()
	data := forge(t, plainDraft(), keep, keys["a"])
	v := verifier(t, keys, receipt.Policy{})
	proof := keys.prove(t, data, "log1")
	for name, e := range map[string]receipt.Evidence{
		"nil proof": {Proofs: []*tlog.Proof{nil}},
		"nil batch": {Batches: []receipt.Batch{nil}},
	} {
		if w, err := v.With(e); err == nil || w != nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if w, err := verifier(t, nil, receipt.Policy{IntegrityOnly: true}).With(proofs(proof)); err == nil || w != nil {
		t.Error("a proof for integrity only: accepted")
	}
	for name, e := range map[string]receipt.Evidence{"proofs": proofs(proof), "batches": {Batches: []receipt.Batch{batchOf(t, data)}}, "files": {Materials: files{}}} {
		if w, err := with(t, v, e).With(receipt.Evidence{}); err == nil || w != nil {
			t.Errorf("data after %s: accepted", name)
		}
	}
	if got := verify(with(t, with(t, v, receipt.Evidence{}), proofs(proof)), data).Verdict; got != receipt.Verified {
		t.Errorf("none, then some: %v", got)
	}
	// The original verifier still has no evidence, and later changes to the arguments have no
	// effect.
	w := with(t, v, proofs(proof))
	proof.Index, proof.Hashes[0] = 9, merkle.Hash{}
	if got := verify(w, data).Check(receipt.StepBatch).Status; got != receipt.StatusPassed {
		t.Errorf("the verifier keeps the caller's values: %v", got)
	}
	if got := verify(v, data).Check(receipt.StepBatch).Status; got != receipt.StatusNotApplicable {
		t.Errorf("the original weighs it too: %v", got)
	}
}

// TestSteadyStateWithProof verifies that, once opened, checkpoints add only the cost of hashing to
// a stream.
func TestSteadyStateWithProof(t *testing.T) {
	keys := logKeys()
	schema, err := schemas.Compile(schemas.Receipt)
	if err != nil {
		t.Fatal(err)
	}
	for how, signers := range map[string][]*member{"log1 w1@0": {keys["a"]}, "own w1@0 stranger@0": nil, "log1 w2@0": {keys["stolen"]}} {
		data := forge(t, plainDraft(), keep, signers...)
		v := with(t, verifier(t, believers{keys}, receipt.Policy{Checkpoint: receipt.CheckpointRule{Cosigners: receipt.Quorum{Threshold: 1}}}), proofs(keys.prove(t, data, how)))
		doc, rep := new(canon.Document), new(receipt.Report)
		var all, alone float64
		for range 20 {
			all = testing.AllocsPerRun(20, func() { v.VerifyBytes(data, doc, rep) })
			alone = testing.AllocsPerRun(20, func() { schema.Check(doc.Root()) })
			if all <= alone {
				break
			}
		}
		if rep.Verdict != receipt.Verified || all > alone {
			t.Errorf("%s: %v, %v allocations, %v of them by the schema", how, outcomeOf(rep), all, alone)
		}
	}
}

// believers is a ring that accepts all signatures without allocating memory.
type believers struct{ ring }

func (b believers) CheckSignature(_ []byte, e *receipt.Entry) (*receipt.Key, *receipt.SignatureError) {
	return &b.ring[string(e.KeyID)].Key, nil
}

// A bomb is a Batch that panics while a receipt is being judged.
type bomb struct{ batch }

func (*bomb) Find([]byte) (merkle.Hash, canon.Digest, bool) { panic("as asked") }

// TestNothingIsLeftOfAPanic verifies that one receipt's results never count for the next receipt,
// even if the caller's code panicked in between.
func TestNothingIsLeftOfAPanic(t *testing.T) {
	keys := logKeys()
	data := forge(t, plainDraft(), keep)
	e := proofs(keys.prove(t, data, "own"))
	e.Batches = []receipt.Batch{&bomb{}}
	doc, rep := new(canon.Document), new(receipt.Report)
	func() {
		defer func() { _ = recover() }()
		with(t, verifier(t, keys, receipt.Policy{}), e).VerifyBytes(data, doc, rep)
		t.Error("no panic")
	}()
	other := forge(t, plainDraft(), func(o map[string]any) { o["receipt_id"] = "receipt_2" })
	verifier(t, keys, receipt.Policy{}).VerifyBytes(other, doc, rep)
	if got, want := outcomeOf(rep), undecided(receipt.StepSignatures, receipt.CodeUnsigned, "/signatures"); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}
