package join_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/fixtures/lake"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// A tangle generates receipts with few streams, IDs, and hashes, so that all kinds of chain faults
// occur in combination.
type tangle struct {
	t    testing.TB
	dice *rand.Rand
	base []byte
	sign receipt.Signer
	made []knot
}

// A knot is one document that a tangle generated.
type knot struct {
	text             []byte // without a line feed at the end
	gap              bool   // the document states no position in a chain
	stream           chain.Stream
	id               string
	stated, computed canon.Digest
	first            bool
	previous         canon.Digest
	issued           int64
}

func newTangle(t testing.TB) *tangle {
	l, err := lake.New(400, 1)
	if err != nil {
		t.Fatal(err)
	}
	data, err := fixtures.Read("keys/key_2026_04.private.json")
	if err != nil {
		t.Fatal(err)
	}
	key, err := keys.ParsePrivate(data)
	if err != nil {
		t.Fatal(err)
	}
	return &tangle{t: t, base: l.Lines[0].Text, sign: keys.NewSigner(key, func() time.Time { return time.Date(2026, 4, 26, 0, 0, 0, 0, time.UTC) })}
}

func (g *tangle) pick(list ...string) string { return list[g.dice.IntN(len(list))] }

// times returns various times. They may be equal, differ by less than a millisecond, have an
// offset, be early, fall into a leap second, or be absent.
func times() []string {
	return []string{"2026-04-25T00:00:01Z", "2026-04-25T00:00:01Z", "2026-04-25T00:00:02Z", "2026-04-25T00:00:02.0004Z", "2026-04-25T00:00:03Z", "2026-04-25T00:00:59.999Z",
		"2026-04-25T02:00:01+02:00", "2016-12-31T23:59:60Z", "2026-04-25T00:00:07Z", "1960-01-01T00:00:00.0005Z", "not a time"}
}

// knot generates another document.
func (g *tangle) knot(wild int) knot {
	d, n := g.dice, len(g.made)
	if n > 0 && d.IntN(14) == 0 { // copies a document, possibly with a different signature
		old := g.made[d.IntN(n)]
		if old.gap {
			return old
		}
		var m map[string]any
		if err := json.Unmarshal(old.text, &m); err != nil {
			g.t.Fatal(err)
		}
		if d.IntN(2) == 0 {
			g.signed(m, old.stated)
		}
		old.text, _ = json.Marshal(m)
		return old
	}
	if d.IntN(wild*6) == 0 {
		return knot{gap: true, text: []byte(g.pick(`{"a":`, `{"schema":"receipt-2099-01-01"}`, `{"schema":"receipt-2026-04-25"}`, `[`))}
	}

	var m map[string]any
	if err := json.Unmarshal(g.base, &m); err != nil {
		g.t.Fatal(err)
	}
	k := knot{stream: chain.Stream{Issuer: g.pick("harness_example_cloud", "harness_example_cloud", "harness_example_cloud", "other"), Workspace: g.pick("w", "w", "w2")}}
	ids := m["identifiers"].(map[string]any)
	ids["workspace_ref"] = k.stream.Workspace
	switch d.IntN(6) {
	case 0:
		k.stream.HasTenant, k.stream.Tenant = true, ""
	case 1:
		k.stream.HasTenant, k.stream.Tenant = true, "t"
	}
	if n > 0 && d.IntN(3) > 0 && !g.made[n-1].gap {
		k.stream = g.made[d.IntN(n)].stream
		if k.stream == (chain.Stream{}) {
			k.stream = chain.Stream{Issuer: "harness_example_cloud", Workspace: "w"}
		}
		ids["workspace_ref"] = k.stream.Workspace
	}
	if k.stream.HasTenant {
		ids["tenant_id"] = k.stream.Tenant
	}
	m["issuer"].(map[string]any)["id"] = k.stream.Issuer

	k.id = fmt.Sprint("r", n)
	if d.IntN(wild*4) == 0 {
		k.id = fmt.Sprint("r", d.IntN(n+1))
	}
	m["receipt_id"] = k.id
	at := fmt.Sprintf("2026-04-25T00:00:%02dZ", min(n, 59))
	if d.IntN(wild) == 0 {
		at = g.pick(times()...)
	}
	m["issued_at"] = at
	if parsed, err := receipt.ParseTime([]byte(at)); err == nil {
		k.issued = parsed.UnixMilli()
	} else {
		k.issued = time.Time{}.UnixMilli()
	}
	if d.IntN(wild*8) == 0 {
		m["cost"].(map[string]any)["total"] = "much" // makes the schema refute the receipt
	}

	// Choose the predecessor, which is usually the last receipt in the stream.
	var own []knot
	for _, o := range g.made {
		if !o.gap && o.stream == k.stream {
			own = append(own, o)
		}
	}
	switch c := d.IntN(wild * 10); {
	case len(own) == 0 || c == 0:
		k.first = d.IntN(4) > 0
		if !k.first {
			k.previous = canon.Sum([]byte(g.pick("nowhere", "elsewhere", "not here")))
		}
	case c == 1:
		k.previous = canon.Digest{}
	case c == 2:
		k.previous = canon.Sum([]byte(g.pick("nowhere", "elsewhere", "not here")))
	case c == 3 && n > 0:
		k.previous = g.made[d.IntN(n)].stated
	case c == 4 && n > 0:
		k.previous = g.made[d.IntN(n)].computed
	case c == 5:
		k.previous = own[d.IntN(len(own))].stated
	default:
		k.previous = own[len(own)-1].stated
	}
	c := m["chain"].(map[string]any)
	c["previous_receipt_hash"] = k.previous.String()
	if k.first {
		c["previous_receipt_hash"] = nil
	}

	text, _ := json.Marshal(m)
	doc, err := canon.Parse(text)
	if err != nil {
		g.t.Fatal(err)
	}
	if k.computed, err = chain.Hash(doc); err != nil {
		g.t.Fatal(err)
	}
	k.stated = k.computed
	if d.IntN(wild*7) == 0 { // forged
		switch d.IntN(5) {
		case 0:
			k.stated = canon.Digest{}
		case 1:
			k.stated = k.previous // it names itself
		case 2:
			k.stated = canon.Sum([]byte(g.pick("nowhere", "elsewhere", "forged")))
		default:
			if n > 0 {
				k.stated = g.made[d.IntN(n)].stated
			}
		}
	}
	c["receipt_hash"] = k.stated.String()
	g.signed(m, k.stated)
	k.text, _ = json.Marshal(m)
	return k
}

// signed adds a signature of one of several kinds.
func (g *tangle) signed(m map[string]any, hash canon.Digest) {
	sig, err := g.sign.Sign(context.Background(), []byte(hash.String()))
	if err != nil {
		g.t.Fatal(err)
	}
	switch g.dice.IntN(12) {
	case 0:
		m["signatures"] = []any{}
		return
	case 1:
		sig.KeyID = "nobody"
	case 2:
		sig, _ = g.sign.Sign(context.Background(), []byte(canon.Sum([]byte("another")).String()))
	}
	m["signatures"] = []any{sig}
}

// list generates n documents.
func (g *tangle) list(seed uint64, n int) []knot {
	g.dice, g.made = rand.New(rand.NewPCG(seed, 7)), nil
	wild := 1 + g.dice.IntN(6)
	for range n {
		g.made = append(g.made, g.knot(wild))
	}
	return slices.Clone(g.made)
}

// split distributes documents over files in a random order.
func split(list []knot, parts int, dice *rand.Rand) (files [][]byte) {
	dealt := make([][]knot, parts)
	runs := dice.IntN(2) == 0
	for i, k := range list {
		at := dice.IntN(parts)
		if runs {
			at = i * parts / len(list)
		}
		dealt[at] = append(dealt[at], k)
	}
	for _, own := range dealt {
		if len(own) == 0 {
			continue
		}
		dice.Shuffle(len(own), func(i, j int) { own[i], own[j] = own[j], own[i] })
		var b bytes.Buffer
		for _, k := range own {
			b.Write(k.text)
			b.WriteByte('\n')
		}
		files = append(files, b.Bytes())
	}
	return files
}
