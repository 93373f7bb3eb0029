package monitor

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/log/internal/durable"
	"github.com/receiptkit/receiptkit/log/tile"
	"github.com/receiptkit/receiptkit/log/witness"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// A Kind is the kind of a finding.
type Kind string

const (
	Growth      Kind = "growth"      // the log has more entries, and its tree extends the last one that was seen
	Fork        Kind = "fork"        // the log signed two trees, neither of which extends the other
	Shrink      Kind = "shrink"      // the log shows a smaller tree than before
	Invalid     Kind = "invalid"     // a signature or a file from the log is invalid
	UnknownKey  Kind = "unknown_key" // no known key of the log signed the checkpoint
	Unwitnessed Kind = "unwitnessed" // the quorum in the policy did not cosign the checkpoint
	Silence     Kind = "silence"     // the last cosignature is too old
	Unreachable Kind = "unreachable" // the log or a witness did not respond, or did not return a file
)

// Refutes reports whether the kind shows that a log did something forbidden.
func (k Kind) Refutes() bool { return k == Fork || k == Shrink || k == Invalid }

// A Finding is a result for one log.
type Finding struct {
	Kind   Kind
	Origin string
	Detail string
}

// A Config configures a monitor.
type Config struct {
	Policy  *tlog.Policy
	Disk    durable.Disk
	Silence time.Duration // maximum age of the last cosignature; 0 means that it is not checked
	Full    bool          // read all entries in each check, instead of only a part of the old entries
	Now     func() time.Time
	Open    func(url string) tile.Source
}

// A Monitor follows the logs in a policy that have a URL.
type Monitor struct{ config Config }

// New returns a Monitor with the given configuration.
func New(c Config) *Monitor { return &Monitor{c} }

// Check examines every log once, and returns the findings in the order of the policy. An error
// comes from the disk or from ctx. If the state of a log cannot be read or written, Check examines
// the other logs nevertheless, and also returns the findings.
func (m *Monitor) Check(ctx context.Context) (findings []Finding, err error) {
	logs := m.config.Policy.Logs
	for i, log := range logs {
		// A log with several keys has several lines.
		checked := slices.ContainsFunc(logs[:i], func(l tlog.PolicyLog) bool { return l.Name() == log.Name() && l.URL == log.URL })
		if log.URL == "" || checked {
			continue
		}
		e := &examination{Monitor: m, log: log, source: m.config.Open(log.URL)}
		err = errors.Join(err, e.run(ctx))
		findings = append(findings, e.findings...)
	}
	return findings, errors.Join(ctx.Err(), err)
}

// An examination is a single check of one log.
type examination struct {
	*Monitor
	log      tlog.PolicyLog
	source   tile.Source
	findings []Finding
	compared []*view // views that were compared with the current one
}

func (e *examination) find(k Kind, format string, args ...any) {
	e.findings = append(e.findings, Finding{k, e.log.Name(), fmt.Sprintf(format, args...)})
}

// A view is a checkpoint that is signed with the log's key.
type view struct {
	note []byte
	*tlog.Signed
}

// run returns an error only if the state cannot be read or written.
func (e *examination) run(ctx context.Context) error {
	last, err := e.last()
	if err != nil {
		return err
	}
	note, err := e.source.Read(ctx, "checkpoint")
	if err != nil {
		e.find(Unreachable, "%v", err)
		return e.silence(last)
	}

	now := e.open(note)
	if now == nil {
		return e.silence(last)
	}
	_, unmet := e.config.Policy.Open(note)
	if unmet != nil {
		e.find(Unwitnessed, "%v", unmet)
	}
	good, err := e.follows(ctx, last, now)
	if err != nil {
		return err
	}
	if err := e.witnesses(ctx, now); err != nil {
		return err
	}
	if good && last != nil {
		if err := e.reread(ctx, last, now); err != nil {
			return err
		}
	}

	// The last checkpoint is replaced only by a checkpoint that is valid under the policy.
	if good && unmet == nil {
		if err := e.seen(); err != nil { // done first, so that every stored checkpoint has a time
			return err
		}
		if err := durable.Replace(e.config.Disk, e.file(), note); err != nil {
			return err
		}
		last = now
	}
	return e.silence(last)
}

func (e *examination) file() string { return witness.OriginHash(e.log.Name()) }

// last returns the last valid checkpoint, or nil if there is none.
func (e *examination) last() (*view, error) {
	note, err := e.config.Disk.Read(e.file())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := e.signed(note)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the stored checkpoint of %.80q is damaged: %w", e.log.Name(), err)
	case len(s.Logs) == 0:
		return nil, fmt.Errorf("the stored checkpoint of %.80q is damaged, or no key of this log in the policy signed it", e.log.Name())
	}
	return &view{note, s}, nil
}

// signed opens a checkpoint with all keys of the log.
func (e *examination) signed(note []byte) (*tlog.Signed, error) {
	var logs []*tlog.Log
	for _, l := range e.config.Policy.Logs {
		if l.Name() == e.log.Name() {
			logs = append(logs, l.Log)
		}
	}
	var witnesses []*tlog.Witness
	for _, w := range e.config.Policy.Witnesses {
		witnesses = append(witnesses, w.Witness)
	}
	return tlog.OpenSigned(note, logs, witnesses)
}

// open verifies the log's signature on a checkpoint. It returns nil if the checkpoint is invalid,
// belongs to another log, or has no signature by the log.
func (e *examination) open(note []byte) *view {
	s, err := e.signed(note)
	switch {
	case err != nil:
		e.find(Invalid, "%v", err)
	case s.Origin != e.log.Name():
		e.find(UnknownKey, "the checkpoint is that of the log %.80q", s.Origin)
	case len(s.Logs) == 0:
		e.find(UnknownKey, "the checkpoint of size %d has no signature of a key of this log in the policy", s.Size)
	default:
		return &view{note, s}
	}
	return nil
}

// follows reports whether the log only added entries since the last checkpoint, and reads these
// entries.
func (e *examination) follows(ctx context.Context, last, now *view) (bool, error) {
	from := uint64(0)
	if last != nil {
		from = last.Size
		if now.Size < last.Size {
			e.find(Shrink, "size %d after %d", now.Size, last.Size)
			return false, e.evidence(last, now)
		}
		same, err := e.extends(ctx, last, now)
		if err != nil || !same {
			return false, err
		}
	}
	if now.Size == from {
		return true, nil
	}

	if !e.read(ctx, now, from, now.Size) {
		return false, nil
	}
	e.find(Growth, "from size %d to %d", from, now.Size)
	return true, nil
}

// read reads the entries from one index up to another, together with the hash tiles that connect
// them with the root, and reports whether the log serves them all.
func (e *examination) read(ctx context.Context, v *view, from, to uint64) bool {
	for entry, err := range e.tree(v).Entries(ctx, from) {
		if err == nil && len(entry) != len(canon.Digest{}) {
			err = &tile.InvalidError{Detail: fmt.Sprintf("an entry has %d bytes, and a receipt hash has 32", len(entry))}
		}
		if err != nil {
			e.unread(err)
			return false
		}
		if from++; from == to {
			break
		}
	}
	return true
}

func (e *examination) tree(v *view) *tile.Tree {
	return &tile.Tree{Size: v.Size, Root: v.Root, Source: e.source}
}

// unread reports a file that could not be read or does not belong to the tree.
func (e *examination) unread(err error) {
	if errors.As(err, new(*tile.InvalidError)) {
		e.find(Invalid, "%v", err)
		return
	}
	e.find(Unreachable, "%v", err)
}

// extends reports whether the later of two views extends the earlier one. The later view must not
// be the smaller one. If it does not, both views are stored as evidence.
func (e *examination) extends(ctx context.Context, earlier, later *view) (bool, error) {
	e.compared = append(e.compared, earlier)
	if earlier.Size == 0 {
		return true, nil
	}
	proof, err := e.tree(later).Consistency(ctx, earlier.Size)
	if err != nil && earlier.Size < later.Size {
		e.unread(err)
		return false, nil
	}
	if err := merkle.CheckConsistency(earlier.Size, later.Size, earlier.Root, later.Root, proof); err != nil {
		e.find(Fork, "the trees of size %d and %d: %v", earlier.Size, later.Size, err)
		return false, e.evidence(earlier, later)
	}
	return true, nil
}

// witnesses compares the checkpoints that the witnesses have cosigned. This detects a log that
// shows another tree to the witnesses, even if it always shows the same tree to this monitor.
func (e *examination) witnesses(ctx context.Context, now *view) error {
	for _, w := range e.config.Policy.Witnesses {
		if w.URL == "" {
			continue
		}
		note, err := e.config.Open(w.URL).Read(ctx, e.file()+"/checkpoint")
		if errors.Is(err, fs.ErrNotExist) { // the witness has not seen the log
			continue
		}
		if err != nil {
			e.find(Unreachable, "witness %s: %v", w.Name, err)
			continue
		}
		s, err := e.signed(note)
		if err != nil || s.Origin != e.log.Name() || len(s.Logs) == 0 {
			e.find(UnknownKey, "witness %s serves a checkpoint that the log did not sign (%v)", w.Name, err)
			continue
		}

		// A larger tree is compared later, when the log shows it. Comparing a tree again would lead
		// to the same result.
		if s.Size > now.Size || slices.ContainsFunc(e.compared, func(v *view) bool { return v.Size == s.Size && v.Root == s.Root }) {
			continue
		}
		if _, err := e.extends(ctx, &view{note, s}, now); err != nil {
			return err
		}
	}
	return nil
}

// evidence stores two contradictory checkpoints of a log.
func (e *examination) evidence(one, other *view) error {
	text := bytes.Join([][]byte{one.note, other.note}, []byte("\n"))
	sum := sha256.Sum256([]byte(one.String() + other.String())) // the same trees are stored once, regardless of new cosignatures
	name := fmt.Sprintf("%s-evidence-%s.txt", e.file(), hex.EncodeToString(sum[:8]))
	return durable.Replace(e.config.Disk, name, text)
}

// seen records the time of a valid checkpoint, which is needed for policies without witnesses.
func (e *examination) seen() error {
	text := e.config.Now().UTC().Format(time.RFC3339) + "\n"
	return durable.Replace(e.config.Disk, e.file()+"-seen", []byte(text))
}

// clockTolerance is the tolerated difference between the clock of a witness and the clock of this
// machine. A cosignature that is further in the future does not count, because it would hide a
// silence until then.
const clockTolerance = time.Minute

// silence checks the age of the last cosignature. If there are no witnesses, it checks the age of
// the last valid checkpoint according to the clock of this machine.
func (e *examination) silence(last *view) error {
	if e.config.Silence == 0 || last == nil {
		return nil
	}
	now := e.config.Now()
	var at time.Time
	for _, c := range last.Cosignatures {
		if c.At.After(at) && !c.At.After(now.Add(clockTolerance)) {
			at = c.At
		}
	}
	if len(e.config.Policy.Witnesses) == 0 {
		text, err := e.config.Disk.Read(e.file() + "-seen")
		if err != nil {
			return err
		}
		if at, err = time.Parse(time.RFC3339+"\n", string(text)); err != nil {
			return err
		}
	}
	if at.IsZero() {
		e.find(Silence, "the times of all cosignatures are in the future")
	} else if age := now.Sub(at); age > e.config.Silence {
		e.find(Silence, "nothing since %s, for %v", at.UTC().Format(time.RFC3339), age.Truncate(time.Second))
	}
	return nil
}
