package statement_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/internal/statement"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

var (
	garden = chain.Stream{Issuer: "harness_a", Workspace: "garden"}
	noon   = time.Date(2026, 4, 25, 12, 0, 0, 0, time.UTC)
)

// newKey returns a signer and a set that contains its key, which may speak for the given issuer.
func newKey(t testing.TB, issuer string) (receipt.Signer, *keys.Set) {
	t.Helper()
	private, err := keys.Generate(rand.Reader, keys.Ed25519, "k")
	if err != nil {
		t.Fatal(err)
	}
	public := private.Public()
	public.Issuers = []string{issuer}
	set, err := keys.NewSet(public)
	if err != nil {
		t.Fatal(err)
	}
	return keys.NewSigner(private, nil), set
}

// sign returns a signed statement in the form in which a recipient reads it.
func sign(t testing.TB, signer receipt.Signer, s *statement.Statement) *statement.Signed {
	t.Helper()
	line, err := s.Sign(context.Background(), signer)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := statement.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// hashOf returns the hash of an imaginary receipt with number n.
func hashOf(n uint64) canon.Digest {
	if n == 0 {
		return canon.Digest{}
	}
	return canon.Sum(fmt.Appendf(nil, "receipt %d", n))
}

// seen returns the observations for an input that contains the first n receipts.
func seen(n uint64) statement.Observed {
	o := statement.Observed{Count: n, Head: hashOf(n), First: true, Numbers: map[canon.Digest]uint64{}}
	for i := uint64(1); i <= n; i++ {
		o.Numbers[hashOf(i)] = i
	}
	return o
}

// A history is an honest stream with a heartbeat every minute and a final statement.
type history struct {
	statements []*statement.Signed
	count      uint64
	end        time.Time
}

func newHistory(t testing.TB, signer receipt.Signer, r *mathrand.Rand) *history {
	h := &history{end: noon}
	var previous canon.Digest
	beats := 3 + r.IntN(5)
	for i := range beats {
		h.count += uint64(1 + r.IntN(4))
		h.end = h.end.Add(time.Duration(30+r.IntN(31)) * time.Second)
		s := &statement.Statement{Stream: garden, Count: h.count, Head: hashOf(h.count), At: h.end, Previous: previous, Final: i == beats-1}
		if !s.Final {
			s.Within = time.Minute
		}
		signed := sign(t, signer, s)
		previous = signed.Digest
		h.statements = append(h.statements, signed)
	}
	return h
}

func (h *history) requirements() statement.Requirements {
	return statement.Requirements{Closed: true, Heartbeat: time.Minute, Now: h.end.Add(time.Hour)}
}

func has(r *statement.Result, code receipt.Code) bool {
	return slices.ContainsFunc(r.Findings, func(f statement.Finding) bool { return f.Code == code })
}

// TestFaults verifies that each kind of fault is found at a random position in a random stream, and
// that nothing is found in an honest stream.
func TestFaults(t *testing.T) {
	cases := 300
	if testsize.Full() {
		cases = 2_500 // number of cases for each kind of fault
	}
	if n, err := strconv.Atoi(os.Getenv("STATEMENT_CASES")); err == nil {
		cases = n
	}
	signer, set := newKey(t, garden.Issuer)
	for i := range cases {
		r := mathrand.New(mathrand.NewPCG(uint64(i), 5))
		h := newHistory(t, signer, r)
		judge := func(list []*statement.Signed, o statement.Observed) *statement.Result {
			list = slices.Clone(list)
			r.Shuffle(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
			return statement.Judge(set, append(list, list[0]), o, h.requirements())
		}

		if got := judge(h.statements, seen(h.count)); got.Verdict() != receipt.Verified || !got.Last.Final || got.Tail != 0 {
			t.Fatalf("case %d: honest: %+v", i, got)
		}

		// Delete the tail, with or without the statements about it.
		fewer := uint64(r.Int64N(int64(h.count)))
		if got := judge(h.statements, seen(fewer)); got.Verdict() != receipt.Refuted || !has(got, receipt.CodeTruncated) {
			t.Errorf("case %d: tail deleted: %+v", i, got)
		}
		cut := 1 + r.IntN(len(h.statements)-1)
		if got := judge(h.statements[:cut], seen(h.statements[cut-1].Count)); got.Verdict() != receipt.Undecided || !has(got, receipt.CodeStreamOpen) || !has(got, receipt.CodeSilence) {
			t.Errorf("case %d: tail and statements deleted: %+v", i, got)
		}

		// Delete the entire run.
		if got := judge(h.statements, seen(0)); got.Verdict() != receipt.Refuted || !has(got, receipt.CodeTruncated) {
			t.Errorf("case %d: run deleted: %+v", i, got)
		}
		if got := statement.Judge(set, nil, seen(0), h.requirements()); got.Verdict() != receipt.Undecided || !has(got, receipt.CodeStreamOpen) {
			t.Errorf("case %d: everything deleted: %+v", i, got)
		}

		// Delete one heartbeat.
		gone := r.IntN(len(h.statements) - 1)
		rest := slices.Delete(slices.Clone(h.statements), gone, gone+1)
		if got := judge(rest, seen(h.count)); got.Verdict() != receipt.Undecided || !has(got, receipt.CodeStatementMissing) {
			t.Errorf("case %d: heartbeat deleted: %+v", i, got)
		}

		// Set the clock back, as seen in the statements alone or by a witness.
		last := h.statements[len(h.statements)-2]
		back := sign(t, signer, &statement.Statement{Stream: garden, Count: last.Count, Head: last.Head, Previous: last.Digest,
			At: last.At.Add(-time.Duration(1+r.IntN(20)) * time.Second), Within: time.Minute})
		if got := judge(append(slices.Clone(h.statements[:len(h.statements)-1]), back), seen(last.Count)); got.Verdict() != receipt.Refuted || !has(got, receipt.CodeStatementFork) {
			t.Errorf("case %d: clock set back: %+v", i, got)
		}
		o := seen(h.count)
		o.Checkpoints = []statement.Checkpoint{{Size: last.Count + 1, At: last.At.Add(-time.Second)}}
		if got := judge(h.statements, o); got.Verdict() != receipt.Refuted || !has(got, receipt.CodeTimeContradicted) {
			t.Errorf("case %d: a witness saw more before: %+v", i, got)
		}
	}
}

// TestJudge verifies the remaining rules, with one case for each.
func TestJudge(t *testing.T) {
	signer, set := newKey(t, garden.Issuer)
	stranger, _ := newKey(t, garden.Issuer)
	first := &statement.Statement{Stream: garden, Count: 2, Head: hashOf(2), At: noon}
	one := sign(t, signer, first)
	make := func(change func(s *statement.Statement)) *statement.Signed {
		s := &statement.Statement{Stream: garden, Count: 3, Head: hashOf(3), At: noon.Add(time.Minute), Previous: one.Digest}
		change(s)
		return sign(t, signer, s)
	}
	two := make(func(*statement.Statement) {})
	end := make(func(s *statement.Statement) { s.Final = true })
	after := make(func(s *statement.Statement) { s.Previous, s.At = end.Digest, noon.Add(2*time.Minute) })
	forked := make(func(s *statement.Statement) { s.At = noon.Add(time.Second) })
	lie := make(func(s *statement.Statement) { s.Head = hashOf(9) })
	fewer := make(func(s *statement.Statement) { s.Count, s.Head = 1, hashOf(1) })
	later := seen(5)
	partial := seen(2)
	partial.Partial = true
	middle := seen(3)
	middle.First = false
	beyond := seen(3)
	beyond.Checkpoints = []statement.Checkpoint{{Size: 4, At: noon.Add(time.Hour)}}
	closed, watched := seen(3), seen(3)
	closed.Checkpoints = []statement.Checkpoint{{Size: 3, At: noon.Add(5 * time.Hour)}}
	watched.Checkpoints = []statement.Checkpoint{{Size: 3, At: noon.Add(30 * time.Minute)}}
	hourly := make(func(s *statement.Statement) { s.Within = time.Hour })
	now := noon.Add(2 * time.Minute)
	dated := func(after time.Duration, required bool) statement.Requirements {
		return statement.Requirements{Now: now, Tolerance: time.Second, Dated: required,
			Existed: map[canon.Digest]time.Time{one.Digest: one.At, two.Digest: two.At.Add(after)}}
	}
	both := []*statement.Signed{one, two}

	for name, c := range map[string]struct {
		list    []*statement.Signed
		seen    statement.Observed
		req     statement.Requirements
		verdict receipt.Verdict
		code    receipt.Code
	}{
		"verified":                 {[]*statement.Signed{one, two}, seen(3), statement.Requirements{Now: now}, receipt.Verified, ""},
		"tail":                     {[]*statement.Signed{one, two}, later, statement.Requirements{Now: now}, receipt.Verified, ""},
		"closed":                   {[]*statement.Signed{one, end}, seen(3), statement.Requirements{Now: now, Closed: true}, receipt.Verified, ""},
		"open":                     {[]*statement.Signed{one, two}, seen(3), statement.Requirements{Now: now, Closed: true}, receipt.Undecided, receipt.CodeStreamOpen},
		"after the end":            {[]*statement.Signed{one, end}, later, statement.Requirements{Now: now}, receipt.Refuted, receipt.CodeAfterEnd},
		"checkpoint after the end": {[]*statement.Signed{one, end}, beyond, statement.Requirements{Now: now}, receipt.Refuted, receipt.CodeAfterEnd},
		"statement after the end":  {[]*statement.Signed{one, end, after}, seen(3), statement.Requirements{Now: now}, receipt.Refuted, receipt.CodeStatementFork},
		"fork":                     {[]*statement.Signed{one, two, forked}, seen(3), statement.Requirements{Now: now}, receipt.Refuted, receipt.CodeStatementFork},
		"two beginnings":           {[]*statement.Signed{one, make(func(s *statement.Statement) { s.Previous = canon.Digest{} })}, seen(3), statement.Requirements{Now: now}, receipt.Refuted, receipt.CodeStatementFork},
		"count decreases":          {[]*statement.Signed{one, fewer}, seen(3), statement.Requirements{Now: now}, receipt.Refuted, receipt.CodeStatementFork},
		"another head at the end":  {[]*statement.Signed{one, lie}, seen(3), statement.Requirements{Now: now}, receipt.Refuted, receipt.CodeHeadMismatch},
		"another head before":      {[]*statement.Signed{one, lie}, later, statement.Requirements{Now: now}, receipt.Refuted, receipt.CodeHeadMismatch},
		"head at another number":   {[]*statement.Signed{make(func(s *statement.Statement) { s.Previous, s.Head = canon.Digest{}, hashOf(2) })}, later, statement.Requirements{Now: now}, receipt.Refuted, receipt.CodeHeadMismatch},
		"selection":                {[]*statement.Signed{one, two}, partial, statement.Requirements{Now: now}, receipt.Undecided, receipt.CodeNotFromStart},
		"not from the start":       {[]*statement.Signed{one, two}, middle, statement.Requirements{Now: now}, receipt.Undecided, receipt.CodeNotFromStart},
		"first missing":            {[]*statement.Signed{two}, seen(3), statement.Requirements{Now: now}, receipt.Undecided, receipt.CodeStatementMissing},
		"unknown key":              {[]*statement.Signed{sign(t, stranger, first)}, seen(2), statement.Requirements{Now: now}, receipt.Refuted, receipt.CodeSignatureInvalid},
		"future":                   {[]*statement.Signed{one, two}, seen(3), statement.Requirements{Now: noon}, receipt.Refuted, receipt.CodeTimeContradicted},
		"tolerance":                {[]*statement.Signed{one, two}, seen(3), statement.Requirements{Now: noon, Tolerance: time.Minute}, receipt.Verified, ""},
		"silence":                  {[]*statement.Signed{one, two}, seen(3), statement.Requirements{Now: now.Add(time.Hour), Heartbeat: time.Hour}, receipt.Undecided, receipt.CodeSilence},
		"cosigned after the end":   {[]*statement.Signed{one, end}, closed, statement.Requirements{Now: now.Add(9 * time.Hour), Closed: true, Heartbeat: time.Hour}, receipt.Verified, ""},
		"cosigned in the limit":    {[]*statement.Signed{one, hourly}, watched, statement.Requirements{Now: noon.Add(80 * time.Minute)}, receipt.Verified, ""},
		"silence after a cosigned": {[]*statement.Signed{one, hourly}, watched, statement.Requirements{Now: noon.Add(2 * time.Hour)}, receipt.Undecided, receipt.CodeSilence},
		"existed":                  {both, seen(3), dated(time.Second, true), receipt.Verified, ""},
		"existed a second before":  {both, seen(3), dated(-time.Second, true), receipt.Verified, ""},
		"existed before its time":  {both, seen(3), dated(-2*time.Second, false), receipt.Refuted, receipt.CodeTimeContradicted},
		"stamped later":            {both, seen(3), dated(2*time.Second, true), receipt.Undecided, receipt.CodeTimeSelfAsserted},
		"stamped later, allowed":   {both, seen(3), dated(2*time.Second, false), receipt.Verified, ""},
		"not stamped":              {both, seen(3), statement.Requirements{Now: now, Dated: true}, receipt.Undecided, receipt.CodeTimeSelfAsserted},
		"no statement":             {nil, seen(3), statement.Requirements{Now: now, Heartbeat: time.Hour}, receipt.Undecided, receipt.CodeSilence},
	} {
		got := statement.Judge(set, c.list, c.seen, c.req)
		if got.Verdict() != c.verdict || c.code != "" && !has(got, c.code) || c.code == "" && len(got.Findings) > 0 {
			t.Errorf("%s: %v, %+v", name, got.Verdict(), got.Findings)
		}
	}
	if got := statement.Judge(set, []*statement.Signed{one, two}, later, statement.Requirements{Now: now}); got.Tail != 2 || got.Last.Count != 3 || got.Silence != time.Minute {
		t.Errorf("%+v", got)
	}

	// These are the conditions for AEL level 1.
	bound := func(change func(s *statement.Statement), previous *statement.Signed) *statement.Signed {
		return make(func(s *statement.Statement) {
			if s.Previous, s.Within = (canon.Digest{}), time.Hour; previous != nil {
				s.Previous = previous.Digest
			}
			change(s)
		})
	}
	final := func(s *statement.Statement) { s.Final, s.Within = true, 0 }
	open := bound(func(*statement.Statement) {}, nil)
	beat := bound(func(*statement.Statement) {}, open)
	loose := bound(func(s *statement.Statement) { s.Within = 0 }, open)
	for name, c := range map[string]struct {
		list  []*statement.Signed
		seen  statement.Observed
		every time.Duration
		want  string
	}{
		"met":                     {[]*statement.Signed{open, beat, bound(final, beat)}, seen(3), 0, ""},
		"met by the verifier":     {[]*statement.Signed{open, loose, bound(final, loose)}, seen(3), time.Hour, ""},
		"not bounded":             {[]*statement.Signed{open, loose, bound(final, loose)}, seen(3), 0, "does not bound"},
		"no heartbeat":            {[]*statement.Signed{open, bound(final, open)}, seen(3), 0, "no heartbeat"},
		"copies are no heartbeat": {[]*statement.Signed{open, open, bound(final, open)}, seen(3), 0, "no heartbeat"},
		"no end":                  {[]*statement.Signed{open, beat}, seen(3), 0, "no statement ends"},
		"no statement":            {nil, seen(3), 0, "no statement ends"},
		"selection":               {[]*statement.Signed{open, beat, bound(final, beat)}, statement.Observed{Count: 3, Head: hashOf(3), First: true, Partial: true}, 0, "a part"},
		"truncated":               {[]*statement.Signed{open, beat, bound(final, beat)}, seen(2), 0, "contradicted"},
	} {
		got := statement.Judge(set, c.list, c.seen, statement.Requirements{Now: now, Heartbeat: c.every})
		if c.want == "" && got.Bounded != "" || !strings.Contains(got.Bounded, c.want) {
			t.Errorf("%s: %q, expected %q", name, got.Bounded, c.want)
		}
	}

	// If the key may not speak for the issuer, the statement is undecided.
	for name, change := range map[string]func(k *keys.PublicKey){
		"issuer":  func(k *keys.PublicKey) { k.Issuers = []string{"harness_b"} },
		"role":    func(k *keys.PublicKey) { k.Roles = []receipt.Role{receipt.RoleWitness} },
		"expired": func(k *keys.PublicKey) { k.NotAfter = noon },
		"revoked": func(k *keys.PublicKey) { k.Revoked = &receipt.Revocation{At: now, Reason: "compromised"} },
		"absent":  func(k *keys.PublicKey) { k.ID = "other" },
	} {
		k := set.Keys()[0]
		change(k)
		others, err := keys.NewSet(k)
		if err != nil {
			t.Fatal(err)
		}
		if got := statement.Judge(others, []*statement.Signed{one}, seen(9), statement.Requirements{Now: now}); got.Verdict() != receipt.Undecided || !has(got, receipt.CodeUnknownKey) {
			t.Errorf("%s: %+v", name, got.Findings)
		}
	}
}

// TestParse verifies that a line has exactly one valid form and that no changed payload is
// accepted.
func TestParse(t *testing.T) {
	signer, set := newKey(t, garden.Issuer)
	s := &statement.Statement{Stream: chain.Stream{Issuer: "harness_a", Tenant: "t", HasTenant: true, Workspace: "garden"}, Count: 2, Head: hashOf(2), At: noon, Within: time.Hour}
	line, err := s.Sign(t.Context(), signer)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := statement.Parse(line)
	if err != nil || signed.Statement != *s {
		t.Fatalf("%+v, %v", signed, err)
	}
	payload, err := s.Payload()
	if err != nil || canon.Sum(payload) != signed.Digest {
		t.Fatalf("%s, %v", payload, err)
	}

	wrap := func(payload, kind string) []byte {
		return fmt.Appendf(nil, `{"payload":%q,"payloadType":%q,"signatures":[{"keyid":"k","sig":"AAAA"}]}`, base64.StdEncoding.EncodeToString([]byte(payload)), kind)
	}
	const kind = "application/vnd.receiptkit.stream-state+json"
	for name, c := range map[string]struct{ from, to string }{
		"space":           {`{"at"`, `{ "at"`},
		"unknown member":  {`{"at"`, `{"a":1,"at"`},
		"duplicate":       {`"count":2`, `"count":2,"count":2`},
		"negative":        {`"count":2`, `"count":-2`},
		"too large":       {`"count":2`, `"count":9007199254740992`},
		"fraction":        {`12:00:00Z`, `12:00:00.5Z`},
		"offset":          {`12:00:00Z`, `12:00:00+00:00`},
		"no head":         {`"` + hashOf(2).String() + `"`, `null`},
		"final, within":   {`"final":false`, `"final":true`},
		"within 0":        {`"within":3600`, `"within":0`},
		"no issuer":       {`"issuer_id":"harness_a"`, `"issuer_id":""`},
		"absent schema":   {`"schema":"stream-state-2026-11",`, ``},
		"absent previous": {`"previous":null,`, ``},
	} {
		changed := strings.Replace(string(payload), c.from, c.to, 1)
		if changed == string(payload) {
			t.Fatalf("%s: nothing changed in %s", name, payload)
		}
		if got, err := statement.Parse(wrap(changed, kind)); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if _, err := statement.Parse(wrap(strings.Replace(string(payload), "2026-11", "2027-01", 1), kind)); !errors.Is(err, statement.ErrSchema) {
		t.Errorf("another schema: %v", err)
	}
	if _, err := statement.Parse(wrap(string(payload), "application/json")); err == nil {
		t.Error("accepted another payload type")
	}
	if _, err := statement.Parse(bytes.Replace(line, []byte("payloadType"), []byte("payloadtype"), 1)); err == nil {
		t.Error("accepted a name in another case")
	}
	if _, err := statement.Parse(bytes.Repeat([]byte(" "), statement.MaxBytes+1)); err == nil {
		t.Error("accepted a line that is too large")
	}

	// If a byte of the payload or the signature is changed, the statement must not be accepted.
	var e map[string]any
	if err := json.Unmarshal(line, &e); err != nil {
		t.Fatal(err)
	}
	for i := range line {
		changed := bytes.Clone(line)
		changed[i] ^= 1
		got, err := statement.Parse(changed)
		if err != nil {
			continue
		}
		if r := statement.Judge(set, []*statement.Signed{got}, seen(2), statement.Requirements{Now: noon}); r.Verdict() == receipt.Verified && !bytes.Contains(changed, []byte(e["payload"].(string))) {
			t.Errorf("byte %d: %s", i, changed)
		}
	}

	for name, bad := range map[string]statement.Statement{
		"no workspace":  {Stream: chain.Stream{Issuer: "a"}, At: noon},
		"no head":       {Stream: garden, Count: 1, At: noon},
		"head of none":  {Stream: garden, Head: hashOf(1), At: noon},
		"final, within": {Stream: garden, At: noon, Final: true, Within: time.Second},
		"part seconds":  {Stream: garden, At: noon.Add(1)},
	} {
		if _, err := bad.Sign(t.Context(), signer); err == nil {
			t.Errorf("%s: signed", name)
		}
	}
}

// TestCopies verifies that copies of a statement with different signatures lead to the same result
// in any order. A copy with an unknown key does not matter if another copy is valid, but an invalid
// copy refutes the statement.
func TestCopies(t *testing.T) {
	signer, set := newKey(t, garden.Issuer)
	s := &statement.Statement{Stream: garden, Count: 3, Head: hashOf(3), At: noon, Final: true}
	good := sign(t, signer, s)
	private, err := keys.Generate(rand.Reader, keys.Ed25519, "stranger")
	if err != nil {
		t.Fatal(err)
	}
	stranger := sign(t, keys.NewSigner(private, nil), s)
	if private, err = keys.Generate(rand.Reader, keys.Ed25519, "k"); err != nil {
		t.Fatal(err)
	}
	forged := sign(t, keys.NewSigner(private, nil), s) // signed with another key that has the same ID

	for _, test := range []struct {
		list []*statement.Signed
		want receipt.Verdict
	}{
		{[]*statement.Signed{good, good}, receipt.Verified},
		{[]*statement.Signed{good, stranger}, receipt.Verified},
		{[]*statement.Signed{stranger, good}, receipt.Verified},
		{[]*statement.Signed{stranger, stranger}, receipt.Undecided},
		{[]*statement.Signed{good, forged}, receipt.Refuted},
		{[]*statement.Signed{forged, good}, receipt.Refuted},
	} {
		r := statement.Judge(set, test.list, seen(3), statement.Requirements{Closed: true, Now: noon})
		if r.Verdict() != test.want {
			t.Errorf("%v, expected %v: %+v", r.Verdict(), test.want, r.Findings)
		}
	}
}
