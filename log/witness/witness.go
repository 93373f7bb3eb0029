package witness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/receiptkit/receiptkit/log/internal/durable"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// A Config configures a witness. It must not change after New has returned.
type Config struct {
	Logs []*tlog.Log // keys of the logs that the witness accepts

	// Cosign returns the checkpoint with an additional cosignature by the witness.
	Cosign func(ctx context.Context, checkpoint []byte, at time.Time) ([]byte, error)
	Key    *tlog.Witness // verifies these cosignatures
	Now    func() time.Time
}

// A Witness cosigns checkpoints. It is safe for concurrent use.
type Witness struct {
	config Config
	logs   map[string][]*tlog.Log // by origin
	disk   durable.Disk
	mu     sync.Mutex // makes each cosignature request a transaction
}

// New returns a witness that uses the records on disk. If the record of one of its logs is
// unreadable, the error describes it, and the witness cannot be used with that log.
func New(config Config, disk durable.Disk) (*Witness, error) {
	w := &Witness{config: config, logs: map[string][]*tlog.Log{}, disk: disk}
	for _, l := range config.Logs {
		w.logs[l.Name()] = append(w.logs[l.Name()], l)
	}
	for origin := range w.logs {
		if _, err := w.record(origin); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// OriginHash returns the name that represents an origin in the URLs of witnesses. It consists of
// the lowercase hexadecimal digits of the SHA-256 digest of the origin.
func OriginHash(origin string) string {
	sum := sha256.Sum256([]byte(origin))
	return hex.EncodeToString(sum[:])
}

// A Refusal states why a checkpoint was not cosigned. The possible statuses are defined by C2SP
// tlog-witness.
type Refusal struct {
	Status int
	Size   uint64 // if Status is 409, the size that the witness cosigned last
	Detail string
}

func (r *Refusal) Error() string { return fmt.Sprintf("witness: refused (%d): %s", r.Status, r.Detail) }

// These are the possible values of Status.
const (
	malformed    = 400
	untrusted    = 403
	unknown      = 404
	conflict     = 409
	inconsistent = 422
)

// AddCheckpoint processes the body of an add-checkpoint request, and returns the signature lines of
// the witness. The error is a *[Refusal], or an error from the disk or the key.
func (w *Witness) AddCheckpoint(ctx context.Context, body []byte) ([]byte, error) {
	r, err := parseRequest(body)
	if err != nil {
		return nil, err
	}
	c, err := w.open(r)
	if err != nil {
		return nil, err
	}
	if r.old > c.Size {
		return nil, &Refusal{Status: malformed, Detail: fmt.Sprintf("old size %d is above the size %d of the checkpoint", r.old, c.Size)}
	}

	// Checking against the record and replacing the record form one transaction. Otherwise, if two
	// requests were checked against the same record, the smaller tree could be stored last.
	w.mu.Lock()
	defer w.mu.Unlock()
	last, err := w.record(c.Origin)
	if err != nil {
		return nil, err
	}
	if err := r.follows(c, last); err != nil {
		return nil, err
	}

	// The time of a cosignature never decreases, even if the clock is set back.
	at := w.config.Now()
	if at.Before(last.at) {
		at = last.at
	}
	cosigned, err := w.config.Cosign(ctx, w.essential(r.note, c), at)
	if err != nil {
		return nil, fmt.Errorf("witness: %w", err)
	}
	signed, err := tlog.OpenSigned(cosigned, nil, []*tlog.Witness{w.config.Key})
	if err != nil || len(signed.Cosignatures) != 1 {
		return nil, fmt.Errorf("witness: the cosignature is not that of the witness's key (%v)", err)
	}
	if err := durable.Replace(w.disk, OriginHash(c.Origin), cosigned); err != nil {
		return nil, fmt.Errorf("witness: storing the record of %.80q: %w", c.Origin, err)
	}

	// The cosignature is the last line of the note.
	lines := strings.SplitAfter(string(cosigned), "\n")
	return []byte(lines[len(lines)-2]), nil
}

// open verifies the log's signature on a checkpoint.
func (w *Witness) open(r *request) (*tlog.Checkpoint, error) {
	origin, _, _ := strings.Cut(string(r.note), "\n")
	logs, known := w.logs[origin]
	signed, err := tlog.OpenSigned(r.note, logs, nil)
	switch {
	case errors.As(err, new(*tlog.SignatureError)):
		return nil, &Refusal{Status: untrusted, Detail: err.Error()}
	case err != nil && !known:
		return nil, &Refusal{Status: malformed, Detail: err.Error()}
	case err != nil:
		return unparsed(r.note, logs, err)
	case !known:
		return nil, &Refusal{Status: unknown, Detail: fmt.Sprintf("unknown log %.80q", origin)}
	case len(signed.Logs) == 0:
		return nil, &Refusal{Status: untrusted, Detail: fmt.Sprintf("no trusted key of %.80q signed the checkpoint", origin)}
	}
	return &signed.Checkpoint, nil
}

// essential returns the checkpoint with only one signature line for each key of its log, so that the
// record contains no lines that anyone could have added, and has a limited size.
func (w *Witness) essential(note []byte, c *tlog.Checkpoint) []byte {
	text, lines, _ := strings.Cut(string(note), "\n\n")
	kept := text + "\n\n"
	signed := map[*tlog.Log]bool{}
	for line := range strings.Lines(lines) {
		if !strings.HasPrefix(line, "— "+c.Origin+" ") {
			continue
		}
		s, err := tlog.OpenSigned([]byte(text+"\n\n"+line), w.logs[c.Origin], nil)
		if err == nil && len(s.Logs) > 0 && !signed[s.Logs[0]] {
			signed[s.Logs[0]] = true
			kept += line
		}
	}
	return []byte(kept)
}

// Checkpoint returns the last checkpoint that the witness cosigned for the log with the given
// origin hash. If there is none, the error is fs.ErrNotExist.
func (w *Witness) Checkpoint(originHash string) ([]byte, error) {
	for origin := range w.logs {
		if OriginHash(origin) != originHash {
			continue
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if _, err := w.record(origin); err != nil {
			return nil, err
		}
		return w.disk.Read(originHash)
	}
	return nil, fs.ErrNotExist
}

// A record contains the last cosigned checkpoint of a log. The zero record belongs to a log that
// the witness has not seen.
type record struct {
	size uint64
	root merkle.Hash
	at   time.Time
}

// record reads the record for a log. Anything except a checkpoint that this witness cosigned is an
// error, because in that case it is unknown which trees were cosigned.
func (w *Witness) record(origin string) (record, error) {
	note, err := w.disk.Read(OriginHash(origin))
	if errors.Is(err, fs.ErrNotExist) {
		return record{root: merkle.EmptyRoot()}, nil
	}
	if err != nil {
		return record{}, fmt.Errorf("witness: reading the record of %.80q: %w", origin, err)
	}
	s, err := tlog.OpenSigned(note, nil, []*tlog.Witness{w.config.Key})
	if err != nil || s.Origin != origin || len(s.Cosignatures) != 1 {
		return record{}, fmt.Errorf("witness: the record of %.80q is damaged: it is not a checkpoint that this witness cosigned, so the witness needs a new key and a new directory for this log (%v)", origin, err)
	}
	return record{s.Size, s.Root, s.Cosignatures[0].At}, nil
}

// A request is the parsed body of an add-checkpoint request.
type request struct {
	old   uint64
	proof []merkle.Hash
	note  []byte
}

// maxProof is the maximum number of hashes in a request.
const maxProof = 63

// parseRequest parses a body, which consists of the line "old N", at most 63 base64 hashes, an
// empty line, and a signed checkpoint.
func parseRequest(body []byte) (*request, error) {
	bad := func(detail string) (*request, error) { return nil, &Refusal{Status: malformed, Detail: detail} }
	head, note, found := strings.Cut(string(body), "\n\n")
	lines := strings.Split(head, "\n")
	digits, ok := strings.CutPrefix(lines[0], "old ")
	old, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil || strconv.FormatUint(old, 10) != digits {
		return bad("expected old and a decimal size on the first line")
	}
	if !found {
		return bad("expected an empty line before the checkpoint")
	}

	r := &request{old: old, note: []byte(note)}
	if len(lines)-1 > maxProof {
		return bad("expected at most 63 hashes")
	}
	for _, line := range lines[1:] {
		h, err := merkle.ParseHash(line)
		if err != nil {
			return bad("expected the base64 of a 32-byte hash on each line before the empty line")
		}
		r.proof = append(r.proof, h)
	}
	return r, nil
}

// follows checks that the checkpoint extends the record.
func (r *request) follows(c *tlog.Checkpoint, last record) error {
	switch {
	case r.old != last.size:
		return &Refusal{conflict, last.size, fmt.Sprintf("the last cosigned size is %d, not %d", last.size, r.old)}
	case c.Size == 0 && c.Root != merkle.EmptyRoot():
		return &Refusal{Status: inconsistent, Detail: "a tree of size 0 has another root"}
	}

	// Every tree extends the empty tree, so no proof is needed for it.
	if r.old == 0 {
		if len(r.proof) > 0 {
			return &Refusal{Status: inconsistent, Detail: "a proof from size 0 has no hashes"}
		}
		return nil
	}
	if err := merkle.CheckConsistency(r.old, c.Size, last.root, c.Root, r.proof); err != nil {
		return &Refusal{Status: inconsistent, Detail: fmt.Sprintf("consistency proof: %v", err)}
	}
	return nil
}

// unparsed returns the refusal for a checkpoint that package tlog does not parse. If the signature is
// also invalid, the invalid signature takes precedence. A signed checkpoint that states size 0 with
// a root that is not the root of the empty tree is returned without a refusal, because C2SP
// tlog-witness compares the sizes before the roots.
func unparsed(msg []byte, logs []*tlog.Log, fault error) (*tlog.Checkpoint, error) {
	list := make([]note.Verifier, len(logs))
	for i, l := range logs {
		list[i] = l
	}
	_, err := note.Open(msg, note.VerifierList(list...))
	c := wrongEmptyTree(msg)
	switch {
	case errors.As(err, new(*note.InvalidSignatureError)):
		return nil, &Refusal{Status: untrusted, Detail: err.Error()}
	case c == nil:
		return nil, &Refusal{Status: malformed, Detail: fault.Error()}
	case err != nil:
		return nil, &Refusal{Status: untrusted, Detail: err.Error()}
	}
	return c, nil
}

// wrongEmptyTree returns the content of a checkpoint that states size 0 with a root that is not the
// root of the empty tree. It returns nil for other checkpoints.
func wrongEmptyTree(msg []byte) *tlog.Checkpoint {
	lines := strings.SplitN(string(msg), "\n", 4)
	if len(lines) != 4 || lines[1] != "0" {
		return nil
	}
	root, err := merkle.ParseHash(lines[2])
	if err != nil || root == merkle.EmptyRoot() {
		return nil
	}
	return &tlog.Checkpoint{Origin: lines[0], Root: root}
}
