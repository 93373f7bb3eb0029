package daily

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/record/source"
	"github.com/receiptkit/receiptkit/redact"
)

// A maker creates the receipts of tasks.
type maker struct {
	*opener
	options *Options
	now     time.Time
	sink    sink
	seen    map[string]string // digests of the logs for receipts that this run created or found, indexed by the ID of the task's first receipt
	result  *result
	kept    map[string]*keptReceipt // receipts that the ledger contains according to stored results
}

// all records tasks in the order in which they ended according to the logs.
func (m *maker) all(works []*work) error {
	slices.SortStableFunc(works, func(a, b *work) int { return cmp.Or(a.Last.Compare(b.Last), cmp.Compare(a.ID, b.ID)) })
	m.progress.Pass(2, 0, int64(len(works)))
	for _, w := range works {
		if m.ctx.Err() != nil {
			break
		}
		if err := m.record(w); err != nil {
			return err
		}
		m.progress.Receipts(1)
	}
	if m.ctx.Err() != nil {
		return interrupted()
	}

	return nil
}

// record creates the receipt of a task, unless the receipt already exists or the task is not over.
// An error ends the run. If a failure affects only this task, it is recorded instead.
func (m *maker) record(w *work) error {
	e := &entry{Task: w.ID, Session: w.Session}
	for _, f := range w.files {
		e.Sources = append(e.Sources, f.path)
	}
	status, err := m.become(w, e)
	var fatal *fatalError

	// A failure of the ledger or an interruption is not a failure of the task.
	switch {
	case errors.As(err, &fatal):
		return fatal.error
	case errors.Is(err, errInterrupted):
		return interrupted()
	}
	e.Status, e.why = status, err
	m.result.add(e)
	return nil
}

// A fatalError ends the run.
type fatalError struct{ error }

// become creates the receipt of a task if necessary, and returns the status of the task.
func (m *maker) become(w *work, e *entry) (status, error) {
	// For most tasks, the status is known without reading their lines again.
	if !w.events {
		if s, err := m.early(w, e); s != "" {
			return s, err
		}
	}

	draft, err := m.draft(w)
	switch {
	case errors.Is(err, errChanged):
		return growing, err
	case errors.Is(err, record.ErrNotEnded):
		return growing, errRuns
	case err != nil:
		return refused, err
	}

	// The event log records when its task ended.
	if w.events {
		if e.Receipt, e.Session = draft.ReceiptID, draft.Identifiers.SessionID; m.isOlder(draft.Lifecycle.CompletedAt.Time) {
			return older, nil
		}
	}
	doc, entries, err := m.redact(draft)
	if err != nil {
		return refused, err
	}
	of, id := logsOf(doc.Root(), w.events), e.Receipt
	if s, err := m.repeated(id, of); s != "" {
		return s, err
	}
	s, err := m.issue(e, draft, doc, entries)
	if s == made || s == known {
		m.seen[id] = of
	}
	if delete(m.kept, id); s == made && !w.events {
		m.kept[id] = &keptReceipt{of, e.Receipt, e.Hash, m.options.Signer != nil}
	}

	return s, err
}

// issue creates a receipt from a draft, unless an equivalent receipt exists.
func (m *maker) issue(e *entry, d *receipt.Draft, doc *canon.Document, entries []redact.Entry) (status, error) {
	before, s, err := m.sink.before(e)
	if s != "" || err != nil {
		return s, err
	}
	if before != nil {
		s, err := m.compare(before.Document(), doc)
		if s != differs || !m.options.Supersede {
			return s, err
		}
		if doc, entries, err = m.superseding(e, d, before); err != nil {
			return refused, err
		}
	}

	s, err = m.sink.put(e, doc)

	// Another run has issued the receipt in the meantime.
	if s == known {
		if before, s, err = m.sink.before(e); before != nil {
			return m.compare(before.Document(), doc)
		}
		return s, err
	}

	// The summary of withheld values and unread records covers only new receipts.
	if s == made {
		m.result.withheld(entries)
		m.result.notRecorded(receipt.ReadUnreported(doc.Root()))
		m.result.notRead(doc.Root().Member("metadata").Member("ignored_records"))
	}

	return s, err
}

// repeated returns the status of a task that is also in another log of this run, or "" if there is
// no such log. A copy of a log adds nothing. If the two logs differ, it is unknown which of them is
// correct.
func (m *maker) repeated(id, of string) (status, error) {
	switch first, have := m.seen[id]; {
	case !have:
		return "", nil
	case first == of:
		return known, nil
	}
	return differs, errOther
}

// redact removes everything from a draft that must not be in a receipt.
func (m *maker) redact(d *receipt.Draft) (*canon.Document, []redact.Entry, error) {
	doc, err := d.Document()
	if err != nil {
		return nil, nil, err
	}

	// The policy withholds values, and the salts of their commitments are discarded.
	clean, err := m.options.Policy.Redact(doc, rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	return clean.Draft, clean.Entries, nil
}

// superseding returns the draft of a receipt that supersedes another receipt.
func (m *maker) superseding(e *entry, d *receipt.Draft, before *receipt.Sealed) (*canon.Document, []redact.Entry, error) {
	e.Receipt, e.Hash, e.last = e.next, "", ""
	d.ReceiptID = e.next
	doc, entries, err := m.redact(d)
	if err != nil {
		return nil, nil, err
	}
	doc, err = receipt.Supersede(doc, before.Hash())
	return doc, entries, err
}

// early returns the status of a task, or "" if the status is unknown without recording its lines.
func (m *maker) early(w *work, e *entry) (status, error) {
	e.Receipt = receiptID(w.ID)
	if m.isOlder(w.Last) {
		return older, nil
	}
	if s := m.unchanged(w, e); s != "" {
		return s, nil
	}
	if why := m.unsettled(w); why != nil {
		return growing, why
	}
	before, s, err := m.sink.before(e)
	if s != "" || err != nil || before == nil {
		return s, err
	}

	// The digests of the lines are compared. If they are equal, the lines need not be read again.
	of, err := m.sums(w)
	if err != nil {
		return left(err), err
	}
	root := before.Document().Root()
	if s, err := m.repeated(e.Receipt, of); s != "" || logsOf(root, false) != of {
		return s, err
	}
	m.seen[e.Receipt] = of
	m.kept[e.Receipt] = &keptReceipt{of, e.last, e.Hash, root.Member("signatures").Len() > 0}
	return m.same(root)
}

// unchanged returns the status known if the ledger is known to contain the receipt of a task.
// Otherwise, it returns "".
func (m *maker) unchanged(w *work, e *entry) status {
	k := m.kept[e.Receipt]
	if k == nil || m.options.Signer != nil && !k.Signed {
		return ""
	}
	if of, err := m.sums(w); err != nil || of != k.Of || m.seen[e.Receipt] != "" {
		return ""
	}
	m.seen[e.Receipt], e.last, e.Hash = k.Of, k.ID, k.Hash
	return known
}

// compare returns the status of a task by comparing it with its receipt.
func (m *maker) compare(before, now *canon.Document) (status, error) {
	if logsOf(before.Root(), false) == logsOf(now.Root(), false) && logsOf(before.Root(), true) == logsOf(now.Root(), true) || told(before.Root()) == told(now.Root()) {
		return m.same(before.Root())
	}
	return differs, errGrew
}

// same returns the status of a task whose receipt matches its log.
func (m *maker) same(root canon.Node) (status, error) {
	if m.options.Signer != nil && root.Member("signatures").Len() == 0 {
		return refused, errUnsigned
	}
	return known, nil
}

// isOlder reports whether a task that ended at the given time is skipped. A task without a time is
// not skipped.
func (m *maker) isOlder(at time.Time) bool {
	return !at.IsZero() && at.Before(m.options.Since)
}

// Reasons for postponing a task to the next run.
var (
	errRuns     = errors.New("it has not ended")
	errGrows    = errors.New("it still grows")
	errFuture   = errors.New("its last line has a timestamp in the future")
	errTimeless = errors.New("the log does not record whether it has ended")
	errOther    = errors.New("another log records the same task")
	errGrew     = errors.New("its log has different content than when it was recorded")
	errUnsigned = errors.New("its receipt is already stored, but not signed: add a signature with receipt ledger sign")
)

// unsettled returns an error that explains why a task is not over, or nil if it is over. A task is
// not over if the latest line of its session is recent, and the task is the last one of its session
// or has open calls.
func (m *maker) unsettled(w *work) error {
	switch quiet := m.now.Sub(w.Latest); {
	case m.options.Settled == 0, w.Followed && w.Open == 0, w.Over && w.Latest.IsZero(), slices.Contains(m.options.Ended, w.Session):
		return nil
	case w.Latest.IsZero():
		return errTimeless
	case quiet < 0:
		return errFuture
	case quiet < m.options.Settled:
		return errGrows
	}
	return nil
}

// draft records the lines of a task.
func (m *maker) draft(w *work) (*receipt.Draft, error) {
	o := m.options.Record
	o.Withhold = withhold

	// The log contains no time, so the current time of the issuer is used.
	if o.TaskID = w.ID; !w.events && w.Last.IsZero() {
		o.IssuedAt = m.now
	}
	if w.events {
		in, err := m.read(w.files[0].place)
		if err != nil {
			return nil, err
		}
		defer in.done()
		log, err := record.Read(in.Reader, o, record.FormEvents)
		if err != nil {
			return nil, err
		}
		return log.Draft, nil
	}

	var inputs []source.Input
	sums := make([]hash.Hash, len(w.files))
	var open []*plain
	defer func() {
		for _, in := range open {
			in.done()
		}
	}()

	// The next run identifies the receipt by the digest of the lines.
	for n, f := range w.files {
		in, err := m.lines(f, &w.Parts[n])
		if err != nil {
			return nil, err
		}
		open = append(open, in)
		sums[n] = sha256.New()
		inputs = append(inputs, source.Input{Name: f.base(), Reader: io.TeeReader(in.Reader, sums[n]), Asides: len(w.Parts[n].Aside)})
	}
	log, err := source.Read(inputs, source.Options{Options: o, From: string(w.files[0].outline.Kind)})
	if err != nil {
		return nil, err
	}

	// A log that changed while it was read may be inconsistent.
	for n, f := range w.files {
		if err := m.still(f, open[n]); err != nil {
			return nil, err
		}
		f.memory.note(&w.Parts[n], canon.Digest(sums[n].Sum(nil)))
	}

	return log.Draft, nil
}

// withhold returns the commitment to a path outside the workspace. The salt of the commitment is
// not stored, and neither are the salts of other values that are withheld here.
func withhold(field string, value []byte) canon.Digest {
	var salt [16]byte
	rand.Read(salt[:])
	return redact.Disclosure{Field: field, Salt: hex.EncodeToString(salt[:]), Value: value}.Commitment()
}

// sums returns the value that logsOf would return for a draft that is created from the lines of a
// task.
func (m *maker) sums(w *work) (string, error) {
	var list []string
	for n, f := range w.files {
		if d, known := f.memory.sum(&w.Parts[n]); known {
			list = append(list, d.String())
			continue
		}
		in, err := m.lines(f, &w.Parts[n])
		if err != nil {
			return "", err
		}

		// If a digest is not stored, it is computed from the log.
		sum := sha256.New()
		_, err = io.Copy(sum, in.Reader)
		in.done()
		if err != nil {
			return "", err
		}
		f.memory.note(&w.Parts[n], canon.Digest(sum.Sum(nil)))
		list = append(list, canon.Digest(sum.Sum(nil)).String())
	}

	return joined(list), nil
}

// logsOf returns the digests of the log lines from which a draft or a receipt was created. If
// events is set, it returns the digests of the lines of the event log.
func logsOf(root canon.Node, events bool) string {
	prefix := "source_log:"
	if events {
		prefix = "event_log:"
	}
	var list []string

	for _, m := range root.Member("replay_input").Member("materials").Elements() {
		if strings.HasPrefix(m.Member("id").String(), prefix) {
			list = append(list, m.Member("sha256").String())
		}
	}
	return joined(list)
}

// told returns the actions in a draft or a receipt, without data about how its log was stored.
func told(root canon.Node) string {
	lifecycle, consumed := root.Member("lifecycle"), root.Member("autonomy_budget").Member("consumed")
	var b []byte
	for _, n := range []canon.Node{
		root.Member("side_effects"), root.Member("cost"), root.Member("approvals"), root.Member("model_route"), root.Member("trust"), root.Member("deltas"), root.Member("final_artifacts"),
		lifecycle.Member("final_state"), lifecycle.Member("started_at"), consumed.Member("input_tokens"), consumed.Member("output_tokens"), consumed.Member("tool_calls"),
	} {
		if !n.IsZero() {
			b = n.AppendCanonical(b)
		}
		b = append(b, '\n')
	}

	return string(b)
}

func joined(list []string) string {
	slices.Sort(list)
	return strings.Join(list, " ")
}

// receiptID returns the ID that a recorder assigns to the receipt of a task.
func receiptID(task string) string { return "receipt_" + strings.TrimPrefix(task, "task_") }
