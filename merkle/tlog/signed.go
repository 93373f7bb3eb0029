package tlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/note"
)

// A Signed value contains a checkpoint, together with those keys passed to [OpenSigned] that have
// signed the checkpoint. Each of its lists may be empty. If Logs is empty, the checkpoint was not
// signed by a known log.
type Signed struct {
	Checkpoint
	Logs         []*Log // logs with the same origin as the checkpoint
	Cosignatures []Cosignature
	Unknown      []string // signature lines of other keys, as "name+key id", which are not checked

	strangers []*Log // logs with another origin that have signed the checkpoint
}

// A Cosignature states that a witness has observed the checkpoint at a given time. The witness
// states and signs this time.
type Cosignature struct {
	Witness *Witness
	At      time.Time
}

// OpenSigned opens a checkpoint that may be signed by any of several logs. It checks every
// signature line of the given keys. If one of these lines is invalid, the error is a
// *[SignatureError], regardless of the other lines. Signature lines of other keys are listed
// without being checked. If the text is not a checkpoint, or if a signature is not in strict base64
// (which has only one spelling), the error is a *[CheckpointError].
func OpenSigned(msg []byte, logs []*Log, witnesses []*Witness) (*Signed, error) {
	n, err := readNote(msg)
	if err != nil {
		return nil, err
	}

	c, err := ParseCheckpoint(n.Text)
	if err != nil {
		return nil, err
	}

	s := &Signed{Checkpoint: *c}
	for _, line := range n.UnverifiedSigs {
		if err := s.add(n.Text, line, logs, witnesses); err != nil {
			return nil, err
		}
	}

	return s, nil
}

// readNote parses a note with at most 100 signature lines, and verifies none of them. It does not
// pass known keys to note.Open, which would skip the second line of a key.
func readNote(msg []byte) (*note.Note, error) {
	_, err := note.Open(msg, note.VerifierList())
	var unverified *note.UnverifiedNoteError
	if !errors.As(err, &unverified) {
		return nil, &CheckpointError{Detail: fmt.Sprintf("%v: %s", err, noteFault(msg))}
	}
	return unverified.Note, nil
}

// noteFault explains why msg is not a signed note. Errors from package note do not state the cause.
func noteFault(msg []byte) string {
	control := func(r rune) bool { return r < ' ' && r != '\n' }
	switch {
	case bytes.Contains(msg, []byte("\r\n")):
		return "expected lines that end with LF, found CR LF"
	case !utf8.Valid(msg) || bytes.ContainsFunc(msg, control):
		return "expected UTF-8 without control characters"
	case !bytes.Contains(msg, []byte("\n\n")):
		return "expected a text, an empty line and signatures, found no empty line"
	case !bytes.HasSuffix(msg, []byte("\n")):
		return "expected LF at the end of the last signature"
	}
	return "expected 1 to 100 signatures after the empty line, each as — NAME BASE64 on a line"
}

// add checks one signature line. Key IDs are short, so several keys may have the same ID. The line
// is invalid if it is not a signature of any of these keys.
func (s *Signed) add(text string, line note.Signature, logs []*Log, witnesses []*Witness) error {
	payload, ok := strictBase64(line.Base64)
	if !ok {
		return &CheckpointError{Detail: fmt.Sprintf("signature of %.80q is not strict base64", line.Name)}
	}

	// A log uses its origin as the name of its key (C2SP tlog-checkpoint). Other logs may also sign
	// the same text.
	signature := payload[4:] // note.Open has checked that the payload is longer than a key ID
	known, valid := false, false
	for _, l := range logs {
		if l.name != line.Name || l.hash != line.Hash {
			continue
		}
		known = true
		if l.Verify([]byte(text), signature) {
			valid = true
			if l.name == s.Origin {
				s.Logs = append(s.Logs, l)
			} else {
				s.strangers = append(s.strangers, l)
			}
		}
	}

	// A witness signs with its own name, and the signature covers the time (C2SP tlog-cosignature).
	// An ML-DSA-44 signature with time 0 is not a statement that the tree is the largest one.
	for _, w := range witnesses {
		if w.name != line.Name || w.hash != line.Hash {
			continue
		}
		known = true
		if w.Verify([]byte(text), signature) {
			valid = true
			if at := cosignedAt(signature); w.kind == cosignatureType || at.Unix() > 0 {
				s.Cosignatures = append(s.Cosignatures, Cosignature{w, at})
			}
		}
	}

	// A signature line of an unknown key has no effect. An invalid signature line of a known key
	// refutes the checkpoint.
	switch {
	case !known:
		s.Unknown = append(s.Unknown, fmt.Sprintf("%s+%08x", line.Name, line.Hash))
	case !valid:
		return &SignatureError{line.Name, line.Hash, s.Checkpoint}
	}

	return nil
}

// cosignedAt returns the time in a verified cosignature.
func cosignedAt(signature []byte) time.Time {
	return time.Unix(int64(min(binary.BigEndian.Uint64(signature), math.MaxInt64)), 0).UTC()
}

// A SignatureError indicates that a checkpoint has an invalid signature of a known key.
type SignatureError struct {
	Name       string
	KeyHash    uint32
	Checkpoint Checkpoint // content of the note, which is not authenticated
}

// Error returns a message with the name and ID of the key.
func (e *SignatureError) Error() string {
	return fmt.Sprintf("merkle: checkpoint: the signature of %q (key id %08x) is invalid", e.Name, e.KeyHash)
}
