package tlog_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// newKnown returns the log key that newLog creates from the same name, in the form that OpenSigned
// requires.
func newKnown(t *testing.T, name string, log logKey) *tlog.Log {
	t.Helper()
	seed := sha256.Sum256([]byte(name))
	l, err := tlog.NewLog(name, ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	if l.Name() != log.verifier.Name() || l.KeyHash() != log.verifier.KeyHash() {
		t.Fatalf("key id %08x, package note computes %08x", l.KeyHash(), log.verifier.KeyHash())
	}
	return l
}

func TestOpenSigned(t *testing.T) {
	log, second := newLog(t, origin), newLog(t, "second.example.net")
	known, other := newKnown(t, origin, log), newKnown(t, "second.example.net", second)
	w1, w2 := newCosigner(t, "w1.example", "w1"), newCosigner(t, "w2.example", "w2")
	want := &tlog.Checkpoint{Origin: origin, Size: 5, Root: merkle.Root(hashes(data(5))), Extensions: []string{"opaque"}}
	msg, err := note.Sign(&note.Note{Text: want.String()}, log.signer, second.signer)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1777140000, 0).UTC()
	for i, w := range []*tlog.Cosigner{w1, w2, w1} { // w1 cosigns twice, at different times
		if msg, err = w.Cosign(t.Context(), msg, at.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	logs, witnesses := []*tlog.Log{known, other}, []*tlog.Witness{w1.Witness}
	s, err := tlog.OpenSigned(msg, logs, witnesses)
	if err != nil || s.String() != want.String() {
		t.Fatalf("%+v, %v", s, err)
	}
	if len(s.Logs) != 1 || s.Logs[0] != known {
		t.Errorf("signed by %v; a key of another origin is no log of this one", s.Logs)
	}
	if len(s.Cosignatures) != 2 || !s.Cosignatures[0].At.Equal(at) || !s.Cosignatures[1].At.Equal(at.Add(2*time.Second)) || s.Cosignatures[0].Witness != w1.Witness {
		t.Errorf("cosigned %v", s.Cosignatures)
	}
	if want := fmt.Sprintf("w2.example+%08x", w2.KeyHash()); len(s.Unknown) != 1 || s.Unknown[0] != want {
		t.Errorf("unknown %q, want %q", s.Unknown, want)
	}
	if s, err := tlog.OpenSigned(msg, nil, nil); err != nil || len(s.Logs)+len(s.Cosignatures) != 0 || len(s.Unknown) != 5 {
		t.Errorf("no keys: %+v, %v", s, err)
	}
	// Repeated key material, such as the same key under two names in a key file, is not ambiguous.
	if s, err := tlog.OpenSigned(msg, []*tlog.Log{known, newKnown(t, origin, log)}, nil); err != nil || len(s.Logs) != 2 {
		t.Errorf("the same key twice: %+v, %v", s, err)
	}
}

// TestOpenSignedEveryBit verifies that, if every key is known, a change to any bit of a signed
// checkpoint changes the result.
func TestOpenSignedEveryBit(t *testing.T) {
	log, w := newLog(t, origin), newCosigner(t, "w1.example", "w1")
	known := newKnown(t, origin, log)
	plain := signedCheckpoint(t, log, &tlog.Checkpoint{Origin: origin, Size: 5, Root: merkle.Root(hashes(data(5)))})
	msg, err := w.Cosign(t.Context(), plain, time.Unix(1777140000, 0))
	if err != nil {
		t.Fatal(err)
	}
	for bit := range len(msg) * 8 {
		bad := bytes.Clone(msg)
		bad[bit/8] ^= 1 << (bit % 8)
		s, err := tlog.OpenSigned(bad, []*tlog.Log{known}, []*tlog.Witness{w.Witness})
		if err == nil && len(s.Logs) == 1 && len(s.Cosignatures) == 1 {
			t.Errorf("bit %d of byte %d, %q: still opens", bit%8, bit/8, msg[bit/8])
		}
		if err != nil && s != nil {
			t.Errorf("bit %d: a value with an error", bit)
		}
	}
}

func TestOpenSignedRefuses(t *testing.T) {
	log, w := newLog(t, origin), newCosigner(t, "w1.example", "w1")
	known := newKnown(t, origin, log)
	c := &tlog.Checkpoint{Origin: origin, Size: 5, Root: merkle.Root(hashes(data(5)))}
	msg := string(signedCheckpoint(t, log, c))
	line := msg[strings.Index(msg, "\n\n")+2:]
	payload, err := base64.StdEncoding.DecodeString(strings.Fields(line)[2])
	if err != nil {
		t.Fatal(err)
	}
	payload[20] ^= 1
	falseLine := fmt.Sprintf("— %s %s\n", origin, base64.StdEncoding.EncodeToString(payload))
	short := fmt.Sprintf("— %s %s\n", origin, base64.StdEncoding.EncodeToString(payload[:30]))
	loose := []byte(line) // sets an unused bit after the 68 payload bytes
	loose[len(loose)-3]++
	unknown := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "— stranger.example/%d AAAAAAAA\n", i)
		}
		return b.String()
	}
	open := func(text string) (*tlog.Signed, error) {
		return tlog.OpenSigned([]byte(text), []*tlog.Log{known}, []*tlog.Witness{w.Witness})
	}
	if s, err := open(msg + unknown(99)); err != nil || len(s.Logs) != 1 || len(s.Unknown) != 99 {
		t.Errorf("100 lines: %v", err)
	}
	for name, bad := range map[string]string{
		"101 lines":           msg + unknown(100),
		"false":               strings.Replace(msg, line, falseLine, 1),
		"true, then false":    msg + falseLine, // note.Open never checks the second line
		"false, then true":    strings.Replace(msg, line, falseLine+line, 1),
		"short":               strings.Replace(msg, line, short, 1),
		"loose base64":        strings.Replace(msg, line, string(loose), 1),
		"loose, unknown key":  msg + "— stranger.example AAAAAAB=\n",
		"no signature":        strings.Replace(msg, line, "", 1),
		"no checkpoint":       "hello\n\n" + line,
		"carriage return":     strings.ReplaceAll(msg, "\n", "\r\n"),
		"another size":        strings.Replace(msg, "\n5\n", "\n6\n", 1),
		"another origin":      strings.Replace(msg, origin+"\n", "other.example.net\n", 1),
		"extension added":     strings.Replace(msg, "\n\n", "\nmore\n\n", 1),
		"empty line in it":    strings.Replace(msg, "\n5\n", "\n\n5\n", 1),
		"cosignature of text": msg + "— w1.example " + base64.StdEncoding.EncodeToString(append([]byte{byte(w.KeyHash() >> 24), byte(w.KeyHash() >> 16), byte(w.KeyHash() >> 8), byte(w.KeyHash())}, make([]byte, 72)...)) + "\n",
	} {
		if s, err := open(bad); err == nil || s != nil {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	for bad, want := range map[string]string{
		strings.ReplaceAll(msg, "\n", "\r\n"):        "found CR LF",
		strings.Replace(msg, "\n\n", "\n", 1):        "no empty line",
		strings.TrimSuffix(msg, "\n"):                "LF at the end",
		msg + "more\n":                               "1 to 100 signatures",
		msg + unknown(100):                           "1 to 100 signatures",
		strings.Replace(msg, "\n5\n", "\n\x01\n", 1): "control characters",
		msg + "\xff\n":                               "UTF-8",
	} {
		if _, err := open(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %v, expected %q", bad, err, want)
		}
	}
	var refuted *tlog.SignatureError
	if _, err := open(strings.Replace(msg, line, falseLine, 1)); !errors.As(err, &refuted) || refuted.Name != origin || refuted.Checkpoint.Root != c.Root || !strings.Contains(err.Error(), origin) {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"", "a b", "a+b"} {
		if _, err := tlog.NewLog(name, known.Public()); err == nil {
			t.Errorf("the name %q is accepted", name)
		}
	}
	if _, err := tlog.NewLog(origin, known.Public().(ed25519.PublicKey)[:31]); err == nil {
		t.Error("a short key is accepted")
	}
}
