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

// A Signed is a checkpoint together with the keys passed to [OpenSigned] that signed it. Each of
// its lists may be empty. If Logs is empty, no known log signed the checkpoint.
type Signed struct {
	Checkpoint
	Logs         []*Log // logs with the checkpoint's origin
	Cosignatures []Cosignature
	Unknown      []string // signature lines by other keys, as "name+key id"; not checked

	strangers []*Log // logs with a different origin that signed the checkpoint
}

// A Cosignature states that a witness had observed the checkpoint at a given time. The time is
// stated and signed by the witness.
type Cosignature struct {
	Witness *Witness
	At      time.Time
}

// OpenSigned opens a checkpoint that may have been signed by any of several logs. It checks every
// signature line by any of the given keys. An invalid line results in a *[SignatureError],
// regardless of the other lines. Signature lines by other keys are only listed. The text must be a
// checkpoint, and each signature must be in strict base64, which has only one spelling
// (*[CheckpointError]).
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

// readNote parses a note with at most 100 signature lines and verifies none of them; note.Open is
// not used with known keys, because it would skip a key's second line.
func readNote(msg []byte) (*note.Note, error) {
	_, err := note.Open(msg, note.VerifierList())
	var unverified *note.UnverifiedNoteError
	if !errors.As(err, &unverified) {
		return nil, &CheckpointError{Detail: fmt.Sprintf("%v: %s", err, noteFault(msg))}
	}
	return unverified.Note, nil
}

// noteFault describes why a text is not a signed note, because package note does not.
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

// add checks one signature line. Key IDs are short, so several keys may share one. The line is
// invalid if none of these keys created the signature.
func (s *Signed) add(text string, line note.Signature, logs []*Log, witnesses []*Witness) error {
	payload, ok := strictBase64(line.Base64)
	if !ok {
		return &CheckpointError{Detail: fmt.Sprintf("signature of %.80q is not strict base64", line.Name)}
	}

	// C2SP tlog-checkpoint: a log signs with its origin as the key name. Other logs may also sign the text.
	signature := payload[4:] // note.Open has checked that the payload is longer than the key ID
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

	// C2SP tlog-cosignature: a witness signs under its own name, together with the time. An
	// ML-DSA-44 signature with time 0 does not state that the tree is the largest.
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

	// A signature line by an unknown key does not count. An invalid signature line by a known key
	// refutes the checkpoint.
	switch {
	case !known:
		s.Unknown = append(s.Unknown, fmt.Sprintf("%s+%08x", line.Name, line.Hash))
	case !valid:
		return &SignatureError{line.Name, line.Hash, s.Checkpoint}
	}

	return nil
}

// cosignedAt returns the time stated in a verified cosignature.
func cosignedAt(signature []byte) time.Time {
	return time.Unix(int64(min(binary.BigEndian.Uint64(signature), math.MaxInt64)), 0).UTC()
}

// A SignatureError indicates that the checkpoint in a note has an invalid signature by a known key.
type SignatureError struct {
	Name       string
	KeyHash    uint32
	Checkpoint Checkpoint // the note's claims; not authenticated
}

// Error returns the key's name and ID.
func (e *SignatureError) Error() string {
	return fmt.Sprintf("merkle: checkpoint: the signature of %q (key id %08x) is false", e.Name, e.KeyHash)
}
