package ael

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/foreign/internal/form"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/receipt"
)

// An artifact is a directory of evidence, represented by one document that contains the text of
// each file.
type artifact struct {
	f        *receipt.Foreign
	files    canon.Node
	manifest canon.Node
	missing  []string
}

// A recorder contains the records that one recorder wrote in one run.
type recorder struct {
	id      string
	key     string // key according to the manifest, which is not signed
	records []record
	lower   bool // the recorder passes every check of level 1
}

// A record is a line that has been parsed.
type record struct {
	canon.Node
	text []byte
	hash string
	seq  int64
	at   time.Time
}

// ReadArtifact reads a directory, whose files are members of ael_directory. The artifact is
// verified only if every signature is trusted. The letters in the details of checks identify the
// checks of the specification.
//
// A check that fails on complete evidence refutes the artifact. A check that only shows that
// evidence is missing leaves the artifact undecided, so an artifact below level 4 is undecided.
func ReadArtifact(doc *canon.Document) *receipt.Foreign {
	f := &receipt.Foreign{Format: "ael-artifact", All: true}
	a := &artifact{f: f, files: doc.Root().Member("ael_directory")}
	text := a.file("manifest.json")
	manifest := new(canon.Document)
	if err := manifest.Parse(text, canon.Limits{}); err != nil || !manifest.IsCanonical() || !form.Members(f, manifest.Root(), []string{"runs", "recorders"}, nil) {
		form.Leave(f, receipt.StepParse, receipt.CodeMaterialNotFound, "", "the manifest is not canonical JSON with runs and recorders")
		return f
	}
	f.Hash = canon.Sum(text)
	a.manifest = manifest.Root()
	f.NotChecked = append(f.NotChecked, receipt.Note{Code: receipt.CodeUncovered, Detail: "no signature covers the manifest, so its coverage, custody, retention, and claimed level are statements"})

	var runs []string
	for _, n := range a.manifest.Member("runs").Elements() {
		runs = append(runs, n.String())
	}
	for _, n := range a.manifest.Member("recorders").Elements() {
		runs = append(runs, n.Member("run").String())
	}

	// Runs that are named only in a recorder's entry are also checked.
	for i, run := range runs {
		if !slices.Contains(runs[:i], run) {
			a.run(run)
		}
	}
	if len(a.missing) > 0 {
		form.Leave(f, receipt.StepLink, receipt.CodeMaterialNotFound, "", "%s", strings.Join(a.missing, "; "))
	}
	for _, step := range []receipt.Step{receipt.StepSchema, receipt.StepLink} {
		if !slices.ContainsFunc(f.Checks, func(c receipt.Check) bool { return c.Step == step }) {
			form.Pass(f, step)
		}
	}
	return f
}

// file returns the text of a file, or nil if the artifact does not contain it.
func (a *artifact) file(name string) []byte { return a.files.Member(name).Text() }

// fail records that a check fails on complete evidence.
func (a *artifact) fail(check string, step receipt.Step, code receipt.Code, format string, args ...any) {
	form.Fail(a.f, step, code, "", "%s: %s", check, fmt.Sprintf(format, args...))
}

// miss records that a check lacks evidence.
func (a *artifact) miss(check, format string, args ...any) {
	a.missing = append(a.missing, check+": "+fmt.Sprintf(format, args...))
}

// run applies the checks to one run.
func (a *artifact) run(id string) {
	if a.f.ID == "" {
		a.f.ID = id
	}
	var list []*recorder
	for _, n := range a.manifest.Member("recorders").Elements() {
		if n.Member("run").String() != id {
			continue
		}
		r := &recorder{id: n.Member("id").String(), key: n.Member("key").String(), lower: true}
		a.read(r, id, n.Member("file").String())
		a.order(r)
		a.times(r)
		decisions(a, r)
		list = append(list, r)
	}
	a.compare(list)
	a.anchors(id, list)
	a.counterparty(id, list)
}

// read reads the records of a recorder (checks a, b, d, w).
func (a *artifact) read(r *recorder, run, file string) {
	text := a.file(file)
	for line := range strings.Lines(string(text)) {
		f := Read([]byte(line))
		payload, _ := form.URL(strings.Split(line, ".")[0])
		doc, err := canon.Parse(payload)
		for _, c := range f.Checks {
			if c.Status == receipt.StatusFailed || c.Code == receipt.CodeUnsupportedSchema {
				c.Detail = fmt.Sprintf("recorder %q, record %d: %s", r.id, len(r.records), c.Detail)
				a.f.Checks = append(a.f.Checks, c)
			}
		}
		a.f.Signatures = append(a.f.Signatures, f.Signatures...)
		if err != nil {
			return
		}

		// The manifest is not signed, so the records must name the run and the recorder.
		root := doc.Root()
		seq, _ := form.Integer(root.Member("seq"))
		r.records = append(r.records, record{root, payload, form.HexOf(canon.Sum(payload)), seq, form.Time(root.Member("ts"))})
		if root.Member("run").String() != run || root.Member("recorder").String() != r.id {
			a.fail("d", receipt.StepSchema, receipt.CodeSchemaInvalid, "a record is of another run or recorder than its file")
		}
	}
	if len(r.records) == 0 {
		a.miss("a", "the recorder %q has no records", r.id)
		r.lower = false
	}
}

// order checks the sequence numbers and links of a recorder (checks d, e, f, g, i, j).
func (a *artifact) order(r *recorder) {
	var closes []int
	for i, n := range r.records {
		if i > 0 && (n.seq <= r.records[i-1].seq || n.Member("prev").String() != r.records[i-1].hash) {
			a.fail("e", receipt.StepLink, receipt.CodeChainBreak, "record %d of %q does not follow the one before it", i, r.id)
		}
		if n.seq != int64(i) {
			a.fail("g", receipt.StepLink, receipt.CodeTruncated, "record %d of %q has the number %d", i, r.id, n.seq)
			r.lower = false
		}
		if n.Member("type").String() == "close" {
			closes = append(closes, i)
		}
	}
	if len(r.records) == 0 {
		return
	}

	// The opening record limits the time between records, and the closing record contains the
	// number of records.
	first, last := r.records[0], len(r.records)-1
	if first.Member("type").String() != "open" || first.seq != 0 || first.Member("hmax").Float() <= 0 {
		a.miss("f", "the records of %q do not begin with an opening that bounds the time between them", r.id)
		r.lower = false
	}
	count, _ := form.Integer(r.records[last].Member("count"))
	switch {
	case len(closes) == 0:
		a.miss("i, j", "the records of %q have no close, so their end is not known", r.id)
		r.lower = false
	case len(closes) > 1 || closes[0] != last || count != int64(len(r.records)) || count < 2 || r.records[last].Member("head").String() != r.records[last-1].hash:
		a.fail("i", receipt.StepLink, receipt.CodeHeadMismatch, "the close of %q is not the only and last one, or states another count or head", r.id)
		r.lower = false
	}
}

// times checks that the time between records stays within the heartbeat limit (check h).
func (a *artifact) times(r *recorder) {
	if len(r.records) == 0 || r.records[0].Member("hmax").Float() <= 0 {
		return
	}
	most := time.Duration(r.records[0].Member("hmax").Float()+r.records[0].Member("htol").Float()) * time.Second
	beats := false
	for i, n := range r.records {
		beats = beats || n.Member("type").String() == "heartbeat"
		if i > 0 && (n.at.Before(r.records[i-1].at) || n.at.Sub(r.records[i-1].at) > most) {
			a.miss("h", "record %d of %q is later than its heartbeat allows, or earlier than the one before it", i, r.id)
			r.lower = false
			return
		}
	}
	if !beats {
		a.miss("h", "%q has no heartbeat", r.id)
		r.lower = false
	}
}

// compare checks the recorders of a run against each other (checks k, l, m).
func (a *artifact) compare(list []*recorder) {
	if len(list) < 2 || slices.ContainsFunc(list, func(r *recorder) bool { return !r.lower }) {
		a.miss("k", "fewer than two recorders are complete")
	}

	// Two recorders with the same key count as one.
	owners := map[string]string{}
	for _, r := range list {
		for _, n := range r.records {
			key := n.Member("key").String()
			if owner, found := owners[key]; r.key != "" && key != r.key || found && owner != r.id {
				a.miss("l", "%q does not use one key of its own", r.id)
			}
			owners[key] = r.id
		}
	}

	rule := a.manifest.Member("correspondence")
	if len(list) < 2 || rule.Member("classes").Len() == 0 || rule.Member("match").String() != "id" {
		a.miss("m", "the manifest names no classes of events that two recorders have to record")
		return
	}
	first := events(list[0], rule.Member("classes"), "")
	for _, r := range list[1:] {
		if !slices.Equal(first, events(r, rule.Member("classes"), "")) {
			a.fail("m", receipt.StepLink, receipt.CodeCountMismatch, "%q records other events than %q", r.id, list[0].id)
		}
	}
}

// events returns the sorted IDs of the events in the given classes. If dir is not empty, it returns
// only the events in this direction.
func events(r *recorder, classes canon.Node, dir string) (ids []string) {
	for _, n := range r.records {
		event := n.Member("event")
		if n.Member("type").String() == "activity" && contains(classes, event.Member("class").String()) && (dir == "" || event.Member("dir").String() == dir) {
			ids = append(ids, event.Member("id").String())
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func contains(list canon.Node, text string) bool {
	for _, n := range list.Elements() {
		if n.String() == text {
			return true
		}
	}
	return false
}

// anchors checks that a log contains the records (checks n, o, p, q, u).
func (a *artifact) anchors(run string, list []*recorder) {
	block := a.manifest.Member("anchor")
	text := a.file(block.Member("file").String())
	if block.IsZero() || len(text) == 0 {
		a.miss("n, o, p, q, u", "no log anchors the records")
		return
	}
	doc, err := canon.Parse(text)
	if err != nil {
		a.fail("n", receipt.StepParse, receipt.CodeSchemaInvalid, "the anchors are not strict JSON")
		return
	}

	// The log signs these bytes, which repeat the members of the tree head.
	head := doc.Root().Member("tree_head")
	if !form.Members(a.f, head, []string{"root", "size", "signed", "sig"}, []string{"ext"}) {
		return
	}
	signed, ok1 := form.Base64(head.Member("signed").String())
	sig, ok2 := form.Base64(head.Member("sig").String())
	stated, err := canon.Parse(signed)
	if !ok1 || !ok2 || err != nil || !stated.IsCanonical() || stated.Root().Member("log").String() != block.Member("log").String() ||
		!equal(stated.Root().Member("root"), head.Member("root")) || !equal(stated.Root().Member("size"), head.Member("size")) {
		a.fail("n", receipt.StepBatch, receipt.CodeProofInvalid, "the log signed another tree head than the one that is stated")
		return
	}
	key := block.Member("log_key").String()
	a.f.Inclusions = append(a.f.Inclusions, receipt.ForeignSignature{KeyID: key, Algorithm: "EdDSA", Role: receipt.RoleCheckpoint, Messages: [][]byte{signed}, Value: sig})

	// Records after the last anchored record may have been added later.
	highest, entries := map[string]int64{}, 0
	for _, n := range doc.Root().Member("entries").Elements() {
		if n.Member("run").String() == run {
			a.anchored(n, head, list, highest)
			entries++
		}
	}
	if entries == 0 {
		a.fail("o", receipt.StepBatch, receipt.CodeProofInvalid, "the log has no entry of the run %q", run)
	}
	for _, r := range list {
		if seq, found := highest[r.id]; len(r.records) > 0 && (!found || r.records[len(r.records)-1].seq > seq) {
			a.miss("q", "records of %q are later than its last anchor", r.id)
		}
		if slices.ContainsFunc(r.records, func(n record) bool { return n.Member("key").String() == key }) {
			a.miss("u", "%q and the log have the same key", r.id)
		}
	}
}

// anchored checks one entry of the log (checks o, p).
func (a *artifact) anchored(n, head canon.Node, list []*recorder, highest map[string]int64) {
	if !form.Members(a.f, n, []string{"recorder", "run", "seq", "leaf", "index", "proof"}, []string{"ext"}) {
		return
	}
	seq, _ := form.Integer(n.Member("seq"))
	index, ok1 := form.Integer(n.Member("index"))
	size, ok2 := form.Integer(head.Member("size"))
	root, ok3 := form.Hex(head.Member("root").String(), 32)
	leaf, ok4 := form.Hex(n.Member("leaf").String(), 32)
	var path []merkle.Hash
	for _, step := range n.Member("proof").Elements() {
		hash, ok := form.Hex(step.String(), 32)
		if !ok {
			hash = make([]byte, 32) // does not lead to the stated root
		}
		path = append(path, merkle.Hash(hash))
	}
	if !ok1 || !ok2 || !ok3 || !ok4 || index < 0 || size < 0 || merkle.CheckInclusion(merkle.Hash(leaf), uint64(index), uint64(size), path, merkle.Hash(root)) != nil {
		a.fail("o", receipt.StepBatch, receipt.CodeProofInvalid, "an entry does not lead to the root of the log")
		return
	}

	// RFC 9162 section 2.1.1: the leaf is the hash of the payload.
	for _, r := range list {
		for _, record := range r.records {
			if sum := merkle.LeafHash(record.text); r.id == n.Member("recorder").String() && record.seq == seq && hex.EncodeToString(sum[:]) == n.Member("leaf").String() {
				highest[r.id] = max(highest[r.id], seq)
				return
			}
		}
	}
	a.fail("p", receipt.StepBatch, receipt.CodeProofInvalid, "the log contains another record with the number %d", seq)
}

func equal(x, y canon.Node) bool { return string(x.Raw()) == string(y.Raw()) && !x.IsZero() }

// counterparty checks the statements of the counterparty (checks r, s, t, v).
func (a *artifact) counterparty(run string, list []*recorder) {
	block := a.manifest.Member("counterparty")
	text := a.file(block.Member("file").String())
	if block.IsZero() || len(text) == 0 {
		a.miss("r, s, t, v", "no counterparty states what it received")
		return
	}
	key, nonce, flows := block.Member("key").String(), "", block.Member("flows")
	var at time.Time // the time of the opening record, because statements contain no time

	// The nonce in the opening records binds the statements to this run.
	for _, r := range list {
		for i, n := range r.records {
			if i == 0 && nonce == "" {
				nonce, at = n.Member("cp_nonce").String(), n.at
			}
			if n.Member("type").String() == "open" && (nonce == "" || n.Member("cp_nonce").String() != nonce) {
				a.fail("s", receipt.StepSchema, receipt.CodeAttestationMismatch, "the openings do not state one nonce for the counterparty")
				return
			}
			if n.Member("key").String() == key {
				a.miss("v", "%q and the counterparty have the same key", r.id)
			}
		}
	}

	var received []string
	statements := 0
	for line := range strings.Lines(string(text)) {
		payload, signature, _ := strings.Cut(strings.TrimRight(line, "\n"), ".")
		signed, ok1 := form.URL(payload)
		sig, ok2 := form.URL(signature)
		doc, err := canon.Parse(signed)
		if !ok1 || !ok2 || err != nil || !doc.IsCanonical() {
			a.fail("r", receipt.StepSchema, receipt.CodeSchemaInvalid, "a statement of the counterparty is not a line of canonical JSON and a signature")
			return
		}
		n := doc.Root()
		if !form.Members(a.f, n, []string{"v", "type", "run", "flow", "nonce"}, []string{"received", "none", "ext"}) {
			return
		}
		if n.Member("run").String() != run {
			continue
		}
		statements++

		// Each statement contains either received.event_id or the member "none" with the value
		// true.
		a.f.Signatures = append(a.f.Signatures, receipt.ForeignSignature{KeyID: key, Algorithm: "EdDSA", Messages: [][]byte{signed}, Value: sig, At: at})
		none, event := n.Member("none"), n.Member("received").Member("event_id")
		if string(n.Member("v").Raw()) != "1" || n.Member("type").String() != "received" || n.Member("nonce").String() != nonce || none.IsZero() == event.IsZero() || !none.IsZero() && !none.Bool() {
			a.fail("s", receipt.StepSchema, receipt.CodeAttestationMismatch, "a statement of the counterparty has another nonce or form")
			return
		}
		if !event.IsZero() && contains(flows, n.Member("flow").String()) {
			received = append(received, event.String())
		}
	}

	// Statements about other runs show nothing about this run.
	if statements == 0 {
		a.fail("s", receipt.StepSchema, receipt.CodeAttestationMismatch, "the statements of the counterparty are for other runs only")
	}
	if flows.Len() == 0 {
		a.miss("t", "the manifest names no flows")
		return
	}
	slices.Sort(received)
	for _, r := range list {
		if !slices.Equal(events(r, flows, "out"), slices.Compact(received)) {
			a.fail("t", receipt.StepLink, receipt.CodeCountMismatch, "the counterparty received other events than %q sent", r.id)
		}
	}
}
