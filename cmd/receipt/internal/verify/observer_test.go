package verify

import (
	"crypto/rand"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/statement"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

var (
	garden = chain.Stream{Issuer: "harness_a", Workspace: "garden"}
	noon   = time.Date(2026, 4, 25, 12, 0, 0, 0, time.UTC)
)

const origin = "log.example"

// A scene consists of a log of three receipts from one stream, the witnesses of the log, and the
// observations of a run.
type scene struct {
	t          *testing.T
	private    map[string]*keys.PrivateKey
	public     []*keys.PublicKey
	policy     receipt.Policy
	checkpoint []byte
	reports    []*receipt.Report
	summary    stream.Summary
	ordered    bool
}

func hashOf(n int) canon.Digest { return canon.Sum(fmt.Append(nil, n)) }

func reportOf(n int, status receipt.Status) *receipt.Report {
	return &receipt.Report{ReceiptHash: hashOf(n), Checks: []receipt.Check{{Step: receipt.StepBatch, Status: status}}}
}

func newScene(t *testing.T) *scene {
	s := &scene{t: t, private: map[string]*keys.PrivateKey{}, ordered: true}
	s.key("issuer", "", receipt.RoleIssuer)
	s.key("log", origin, receipt.RoleCheckpoint)
	for _, id := range []string{"w1", "w2"} {
		s.key(id, id, receipt.RoleWitness)
	}
	s.summary = stream.Summary{Complete: true, Streams: []chain.Segment{{Stream: garden, Count: 3, First: true, Head: hashOf(3)}}}
	for n := range 3 {
		s.reports = append(s.reports, reportOf(n+1, receipt.StatusPassed))
	}
	s.sign("log", 3)
	return s
}

// key adds a trusted key.
func (s *scene) key(id, origin string, roles ...receipt.Role) {
	s.t.Helper()
	private, err := keys.Generate(rand.Reader, keys.Ed25519, id)
	if err != nil {
		s.t.Fatal(err)
	}
	s.private[id] = private
	s.twin(id, id, origin, roles...)
}

// twin adds a trusted key that has the same key material as another key.
func (s *scene) twin(of, id, origin string, roles ...receipt.Role) {
	s.t.Helper()
	public, err := keys.FromPublic(s.private[of].Public().Crypto(), id, "")
	if err != nil {
		s.t.Fatal(err)
	}
	public.Issuers, public.Roles, public.Origin = []string{garden.Issuer}, roles, origin
	s.public = append(s.public, public)
}

// sign replaces the checkpoint with a checkpoint that covers only the first receipts.
func (s *scene) sign(id string, size int) {
	s.t.Helper()
	var tree merkle.Tree
	for n := range size {
		tree.Append(receipt.CheckpointLeaf(hashOf(n + 1)))
	}
	note, err := keys.NewSigner(s.private[id], nil).SignCheckpoint(s.t.Context(), &tlog.Checkpoint{Origin: origin, Size: uint64(size), Root: tree.Root()})
	if err != nil {
		s.t.Fatal(err)
	}
	s.checkpoint = note
}

func (s *scene) cosign(id string, after time.Duration) {
	s.t.Helper()
	note, err := keys.NewSigner(s.private[id], nil).Cosign(s.t.Context(), id, s.checkpoint, noon.Add(after))
	if err != nil {
		s.t.Fatal(err)
	}
	s.checkpoint = note
}

// observe returns the observations of a run.
func (s *scene) observe() (seen statement.Observed, anchored stream.Level) {
	s.t.Helper()
	set, err := keys.NewSet(s.public...)
	if err != nil {
		s.t.Fatal(err)
	}
	v, err := receipt.NewVerifier(set, s.policy)
	if err != nil {
		s.t.Fatal(err)
	}
	o := observer{ordered: s.ordered, checkpoint: v.OpenCheckpoint(s.checkpoint)}
	o.watch(map[chain.Stream][]*statement.Signed{garden: {
		{Statement: statement.Statement{Head: hashOf(2)}}, {Statement: statement.Statement{Head: hashOf(9)}},
	}})
	for _, rep := range s.reports {
		o.add(rep)
	}
	return o.stream(v, &s.summary, garden), o.anchored(v, &s.summary, "")
}

// TestCheckpointOfStream verifies that a checkpoint shows the length of a stream at a certain time
// only if the checkpoint's tree belongs to the stream and an independent witness has cosigned the
// checkpoint.
func TestCheckpointOfStream(t *testing.T) {
	two := receipt.Policy{Checkpoint: receipt.CheckpointRule{Cosigners: receipt.Quorum{Threshold: 2}}}
	for name, c := range map[string]struct {
		change func(s *scene)
		size   uint64 // size of the checkpoint that is used; 0 means that no checkpoint is used
		after  time.Duration
		level  bool
	}{
		"honest":             {func(s *scene) { s.cosign("w1", time.Hour) }, 3, time.Hour, true},
		"the first receipts": {func(s *scene) { s.sign("log", 2); s.cosign("w1", 0) }, 2, 0, false},
		"earliest witness":   {func(s *scene) { s.cosign("w1", time.Hour); s.cosign("w2", time.Minute) }, 3, time.Minute, true},
		"quorum":             {func(s *scene) { s.policy = two; s.cosign("w1", time.Hour); s.cosign("w2", time.Minute) }, 3, time.Hour, true},
		"no quorum":          {func(s *scene) { s.policy = two; s.cosign("w1", time.Hour) }, 0, 0, true},
		"one key twice": {func(s *scene) {
			s.policy = two
			s.twin("w1", "w1b", "w1b", receipt.RoleWitness)
			s.private["w1b"] = s.private["w1"]
			s.cosign("w1", 0)
			s.cosign("w1b", 0)
		}, 0, 0, true},
		"no witness": {func(*scene) {}, 0, 0, true},
		"unknown witness": {func(s *scene) {
			s.cosign("w1", 0)
			s.public = slices.DeleteFunc(s.public, func(k *keys.PublicKey) bool { return k.ID == "w1" })
		}, 0, 0, true},
		"stolen witness": {func(s *scene) {
			s.cosign("w1", 0)
			s.public[2].Revoked = &receipt.Revocation{At: noon.Add(time.Hour), Reason: "compromised"}
		}, 0, 0, true},
		"the issuer as witness": {func(s *scene) { s.cosign("w1", 0); s.twin("w1", "other", "", receipt.RoleIssuer) }, 0, 0, true},
		"the log as witness":    {func(s *scene) { s.cosign("w1", 0); s.twin("w1", "other", origin, receipt.RoleCheckpoint) }, 0, 0, true},
		"the issuer as log":     {func(s *scene) { s.cosign("w1", 0); s.twin("log", "other", "", receipt.RoleIssuer) }, 3, 0, false},
		"unknown log": {func(s *scene) {
			s.cosign("w1", 0)
			s.public = slices.DeleteFunc(s.public, func(k *keys.PublicKey) bool { return k.ID == "log" })
		}, 0, 0, false},
		"reordered":           {func(s *scene) { s.cosign("w1", 0); slices.Reverse(s.reports) }, 0, 0, false},
		"another receipt":     {func(s *scene) { s.cosign("w1", 0); s.reports[1] = reportOf(7, receipt.StatusPassed) }, 0, 0, false},
		"truncated":           {func(s *scene) { s.cosign("w1", 0); s.reports = s.reports[:2] }, 0, 0, false},
		"a copy":              {func(s *scene) { s.cosign("w1", 0); s.summary.Copies = 1 }, 0, 0, false},
		"receipt not counted": {func(s *scene) { s.cosign("w1", 0); s.reports[1] = reportOf(2, receipt.StatusNotChecked) }, 0, 0, false},
		"selection":           {func(s *scene) { s.cosign("w1", 0); s.summary.Partial = true }, 0, 0, true},
		"incomplete":          {func(s *scene) { s.cosign("w1", 0); s.summary.Complete = false }, 0, 0, true},
		"not from the start":  {func(s *scene) { s.cosign("w1", 0); s.summary.Streams[0].First = false }, 0, 0, true},
		"two streams": {func(s *scene) {
			s.cosign("w1", 0)
			s.summary.Streams = append(s.summary.Streams, chain.Segment{Stream: chain.Stream{Issuer: "b", Workspace: "garden"}, Count: 1, First: true})
		}, 0, 0, true},
	} {
		s := newScene(t)
		c.change(s)
		seen, anchored := s.observe()
		var want []statement.Checkpoint
		if c.size > 0 {
			want = []statement.Checkpoint{{Size: c.size, At: noon.Add(c.after)}}
		}
		if !slices.EqualFunc(seen.Checkpoints, want, func(a, b statement.Checkpoint) bool { return a.Size == b.Size && a.At.Equal(b.At) }) {
			t.Errorf("%s: %v, expected %v", name, seen.Checkpoints, want)
		}
		if anchored.Number != 3 || anchored.Met != c.level || anchored.Met != (anchored.Detail == "") {
			t.Errorf("%s: %+v", name, anchored)
		}
	}
}

// TestNumbers verifies which heads in statements are known, and the numbers of these heads.
func TestNumbers(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *scene)
		known  bool
		number uint64
	}{
		"in order":    {func(*scene) {}, true, 2},
		"by links":    {func(s *scene) { s.ordered = false }, true, 0},
		"copies":      {func(s *scene) { s.summary.Copies = 1 }, true, 0},
		"two streams": {func(s *scene) { s.summary.Streams = append(s.summary.Streams, chain.Segment{}) }, true, 0},
		"selection":   {func(s *scene) { s.summary.Partial = true }, false, 0},
		"incomplete":  {func(s *scene) { s.summary.Complete = false }, false, 0},
	} {
		s := newScene(t)
		c.change(s)
		seen, _ := s.observe()
		if got, found := seen.Numbers[hashOf(2)]; found != c.known || got != c.number || (seen.Numbers != nil) != c.known {
			t.Errorf("%s: %v", name, seen.Numbers)
		}
		if _, found := seen.Numbers[hashOf(9)]; found {
			t.Errorf("%s: found a receipt that is not in the input", name)
		}
	}
}
