package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/log/client"
	"github.com/receiptkit/receiptkit/log/tile"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

const origin = "log.example/receipts"

// newSigner returns a signer whose key is derived from a letter.
func newSigner(t *testing.T, algorithm, letter string) *keys.Signer {
	t.Helper()
	private, err := keys.Generate(strings.NewReader(strings.Repeat(letter, 32)), algorithm, letter)
	if err != nil {
		t.Fatal(err)
	}
	return keys.NewSigner(private, nil)
}

// A setting consists of a log with one entry and a policy that requires a witness's cosignature.
type setting struct {
	hash    canon.Digest
	note    []byte
	tree    *tile.Tree
	policy  *tlog.Policy
	witness *keys.Signer
}

func newSetting(t *testing.T, algorithm string) *setting {
	t.Helper()
	s := &setting{hash: canon.Sum([]byte("receipt")), witness: newSigner(t, algorithm, "w")}
	log := newSigner(t, algorithm, "l")
	l, err := log.Public().Log(origin)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.witness.Public().Witness("witness.example")
	if err != nil {
		t.Fatal(err)
	}
	s.tree = &tile.Tree{Size: 1, Root: merkle.LeafHash(s.hash[:]), Source: tile.Dir(t.TempDir())}
	if s.note, err = log.SignCheckpoint(t.Context(), &tlog.Checkpoint{Origin: origin, Size: 1, Root: s.tree.Root}); err != nil {
		t.Fatal(err)
	}
	s.policy = &tlog.Policy{
		Logs:      []tlog.PolicyLog{{Log: l}},
		Witnesses: []tlog.PolicyWitness{{Name: "w", Witness: w}},
		Quorum:    &tlog.Group{Threshold: 1, Witnesses: []*tlog.Witness{w}},
	}
	return s
}

// lines returns the witness's signature line.
func (s *setting) lines(t *testing.T) []byte { return s.linesAt(t, time.Unix(1777140000, 0)) }

// linesAt returns the witness's signature line with the given time.
func (s *setting) linesAt(t *testing.T, at time.Time) []byte {
	t.Helper()
	cosigned, err := s.witness.Cosign(t.Context(), "witness.example", s.note, at)
	if err != nil {
		t.Fatal(err)
	}
	return cosigned[len(s.note):]
}

// serve starts a server that calls answer to write each response. The arguments include the index
// and the body of the request.
func serve(t *testing.T, answer func(n int, w http.ResponseWriter, body string)) string {
	t.Helper()
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		answer(n, w, string(body))
		n++
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// states responds with a size that the witness cosigned.
func states(w http.ResponseWriter, size uint64) {
	w.Header().Set("Content-Type", "text/x.tlog.size")
	w.WriteHeader(http.StatusConflict)
	fmt.Fprintf(w, "%d\n", size)
}

// TestWrongSize verifies that a witness is queried again after it stated a larger size than the log
// has, and that the error from the first attempt states why the cosignature is missing.
func TestWrongSize(t *testing.T) {
	for _, algorithm := range []string{keys.Ed25519, keys.MLDSA44} {
		s := newSetting(t, algorithm)
		lines := s.lines(t)
		s.policy.Witnesses[0].URL = serve(t, func(n int, w http.ResponseWriter, body string) {
			switch {
			case n == 0:
				states(w, 1_000_000)
			case n == 1:
				states(w, 1)
			case !strings.HasPrefix(body, "old 1\n\n"):
				t.Errorf("request %d: %.40q", n, body)
			default:
				w.Write(lines)
			}
		})
		witnesses := client.NewWitnesses(s.policy)
		if _, err := witnesses.Cosign(t.Context(), s.note, s.tree); !errors.Is(err, tlog.ErrUnmet) || !strings.Contains(err.Error(), "1000000, and this log has 1") {
			t.Errorf("%s: %v", algorithm, err)
		}
		cosigned, err := witnesses.Cosign(t.Context(), s.note, s.tree)
		if err != nil || !bytes.Equal(cosigned, append(bytes.Clone(s.note), lines...)) {
			t.Errorf("%s: %v", algorithm, err)
		}
	}
}

// TestBadWitnesses verifies that no part of a witness's response is trusted without a check.
func TestBadWitnesses(t *testing.T) {
	s := newSetting(t, keys.Ed25519)
	good := s.lines(t)
	other := newSetting(t, keys.Ed25519)
	other.witness = newSigner(t, keys.Ed25519, "x")
	for name, test := range map[string]struct {
		answer func(n int, w http.ResponseWriter, body string)
		want   string
	}{
		"another key": {func(_ int, w http.ResponseWriter, _ string) { w.Write(other.lines(t)) }, "no cosignature of its key"},
		"nothing":     {func(int, http.ResponseWriter, string) {}, "no cosignature of its key"},
		"damaged": {func(_ int, w http.ResponseWriter, _ string) {
			w.Write(bytes.Replace(good, []byte("A"), []byte("B"), -1))
		}, "witness w: "},
		"too long": {func(_ int, w http.ResponseWriter, _ string) { w.Write(bytes.Repeat(good, 64<<10/len(good)+1)) }, "too large"},
		"no size": {func(_ int, w http.ResponseWriter, _ string) {
			w.Header().Set("Content-Type", "text/x.tlog.size")
			w.WriteHeader(409)
			io.WriteString(w, "x\n")
		}, "expected a size"},
		"another status": {func(_ int, w http.ResponseWriter, _ string) { http.Error(w, "no", http.StatusUnprocessableEntity) }, "status 422"},
		"409 alone":      {func(_ int, w http.ResponseWriter, _ string) { http.Error(w, "no", http.StatusConflict) }, "status 409"},
		"other sizes":    {func(n int, w http.ResponseWriter, _ string) { states(w, uint64(n+1)%2) }, "another size after each request"},
	} {
		s.policy.Witnesses[0].URL = serve(t, test.answer)
		if note, err := client.NewWitnesses(s.policy).Cosign(t.Context(), s.note, s.tree); note != nil || !errors.Is(err, tlog.ErrUnmet) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q", name, err)
		}
	}
}

// TestManyLines verifies that a witness that responds with more cosignatures than a checkpoint may
// have adds only the first of them, so that it cannot prevent publication.
func TestManyLines(t *testing.T) {
	s := newSetting(t, keys.Ed25519)
	line, later := s.lines(t), s.linesAt(t, time.Unix(1777140001, 0))
	s.policy.Witnesses[0].URL = serve(t, func(_ int, w http.ResponseWriter, _ string) { w.Write(append(line, bytes.Repeat(later, 120)...)) })
	want := append(bytes.Clone(s.note), line...)
	if note, err := client.NewWitnesses(s.policy).Cosign(t.Context(), s.note, s.tree); err != nil || !bytes.Equal(note, want) {
		t.Errorf("%d lines, %v", bytes.Count(note, []byte("\n")), err)
	}
}

// TestAnswersOfLogs verifies which responses from a log cause a retry, and that a proof is returned
// only if it meets the policy.
func TestAnswersOfLogs(t *testing.T) {
	s := newSetting(t, keys.MLDSA44)
	cosigned := append(bytes.Clone(s.note), s.lines(t)...)
	good := (&tlog.Proof{Checkpoint: cosigned}).Format()
	var invalid *client.ProofError
	var status *client.StatusError
	for name, test := range map[string]struct {
		answer func(n int, w http.ResponseWriter, body string)
		ok     func(proof []byte, err error) bool
	}{
		"busy at first": {func(n int, w http.ResponseWriter, body string) {
			if statuses := []int{http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusTooManyRequests}; n < len(statuses) {
				http.Error(w, "busy", statuses[n])
				return
			}
			if body != s.hash.String() {
				t.Errorf("body %q", body)
			}
			w.Write(good)
		}, func(proof []byte, err error) bool { return err == nil && bytes.Equal(proof, good) }},
		"unwitnessed": {func(_ int, w http.ResponseWriter, _ string) { w.Write((&tlog.Proof{Checkpoint: s.note}).Format()) },
			func(_ []byte, err error) bool { return errors.Is(err, tlog.ErrUnmet) && errors.As(err, &invalid) }},
		"another index": {func(_ int, w http.ResponseWriter, _ string) {
			w.Write((&tlog.Proof{Index: 1, Checkpoint: cosigned}).Format())
		},
			func(_ []byte, err error) bool { return errors.As(err, &invalid) && !errors.Is(err, tlog.ErrUnmet) }},
		"too long": {func(n int, w http.ResponseWriter, _ string) {
			if n > 0 {
				t.Error("repeated")
			}
			w.Write(append(bytes.Clone(good), bytes.Repeat([]byte("x"), 1<<20)...))
		}, func(_ []byte, err error) bool {
			return errors.As(err, &invalid) && strings.Contains(err.Error(), "too large")
		}},
		"refused": {func(_ int, w http.ResponseWriter, _ string) {
			http.Error(w, strings.Repeat("no", 1<<20), http.StatusUnauthorized)
		},
			func(_ []byte, err error) bool {
				return errors.As(err, &status) && status.Status == 401 && len(err.Error()) < 300
			}},
	} {
		log := &client.Log{URL: serve(t, test.answer), Policy: s.policy}
		if proof, _, err := log.Add(t.Context(), s.hash); !test.ok(proof, err) || err != nil && proof != nil {
			t.Errorf("%s: %v", name, err)
		}
	}

	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // the first response must arrive in this time
	defer cancel()
	log := &client.Log{URL: serve(t, func(_ int, w http.ResponseWriter, _ string) { http.Error(w, "busy", http.StatusServiceUnavailable) }), Policy: s.policy}
	if _, _, err := log.Add(ctx, s.hash); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "503") {
		t.Error(err)
	}

	// A log that waits for its witnesses does not respond at all until its own time limit.
	short, cancelShort := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancelShort()
	var timeout *client.TimeoutError
	log.URL = serve(t, func(int, http.ResponseWriter, string) { <-short.Done() })
	if _, _, err := log.Add(short, s.hash); !errors.As(err, &timeout) || err.Error() != "gave up: the log did not respond in time" {
		t.Error(err)
	}
}
