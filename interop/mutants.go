package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/fixtures/mutate"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// A mill creates mutants of the receipts in package fixtures. The same seed always leads to the
// same mutants.
type mill struct {
	rand    *rand.Rand
	trees   []*mutate.Value
	signers []*keys.Signer
	ids     []string // of the signers
}

// deterministic lists the test keys whose signatures do not depend on randomness.
var deterministic = []string{
	"key_2026_04", "key_compromised", "key_eddsa", "key_expired", "key_future", "key_other_issuer", "key_revoked",
	"key_rs256", "key_second", "key_stranger", "key_superseded", "key_superseded_later", "key_unbound", "log_1", "witness_1",
}

func newMill(seed uint64) (*mill, error) {
	m := &mill{rand: rand.New(rand.NewPCG(seed, 0))}
	manifest, err := fixtures.Load()
	if err != nil {
		return nil, err
	}
	for _, c := range manifest.Cases {
		text, err := fixtures.Read(c.File)
		if err != nil {
			return nil, err
		}
		if tree := mutate.Parse(text); tree != nil && tree.Open == '{' {
			m.trees = append(m.trees, tree)
		}
	}
	if len(m.trees) < 100 {
		return nil, fmt.Errorf("reading the fixtures: found %d seeds, expected at least 100", len(m.trees))
	}

	for _, id := range deterministic {
		jwk, err := fixtures.Read("keys/" + id + ".private.json")
		if err != nil {
			return nil, err
		}
		key, err := keys.ParsePrivate(jwk)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", id, err)
		}
		m.signers, m.ids = append(m.signers, keys.NewSigner(key, nil)), append(m.ids, id)
	}
	return m, nil
}

// next returns the next mutant.
func (m *mill) next() []byte {
	tree, donor := m.seed(), m.seed()
	switch m.rand.IntN(8) {
	case 0: // damaged bytes
		return mutate.Text(m.rand, tree.Append(nil))
	case 1: // the same value with a different spelling
		return mutate.Spell(m.rand, tree)
	case 2: // a different structure without a new hash
		mutate.Structure(m.rand, tree, donor)
		return tree.Append(nil)
	case 3: // signatures from another receipt
		m.graft(tree, donor)
		return tree.Append(nil)
	case 4: // damaged signatures
		if list := tree.Member("signatures"); list != nil {
			mutate.Structure(m.rand, list, donor)
		}
		return tree.Append(nil)
	}

	// The structure differs, but the hash and the signatures match it, so the checks of the content
	// and the keys decide the result.
	if m.rand.IntN(4) > 0 {
		mutate.Structure(m.rand, tree, donor)
	}
	return m.seal(tree)
}

// seed returns a copy of one of the seeds.
func (m *mill) seed() *mutate.Value { return m.trees[m.rand.IntN(len(m.trees))].Clone() }

// graft adds the signatures from another receipt.
func (m *mill) graft(tree, donor *mutate.Value) {
	from, to := donor.Member("signatures"), tree.Member("signatures")
	if from != nil && to != nil && from.Open == '[' && to.Open == '[' {
		to.Items = append(to.Items, from.Items...)
	}
}

// seal returns the text of a tree. It may change the issuer's key ID, and then sets the hash and
// the signatures, unless the tree is not JSON or has no chain.
func (m *mill) seal(tree *mutate.Value) []byte {
	signer := m.rand.IntN(len(m.signers))
	if issuer := tree.Member("issuer"); issuer != nil && issuer.Open == '{' {
		switch m.rand.IntN(3) {
		case 0:
			issuer.Set("public_key_id", text(m.ids[signer]))
		case 1:
			issuer.Set("public_key_id", text(m.ids[m.rand.IntN(len(m.ids))]))
		}
	}

	doc, err := canon.Parse(tree.Append(nil))
	chained := tree.Member("chain")
	if err != nil || chained == nil || chained.Open != '{' {
		return tree.Append(nil)
	}
	hash, err := chain.Hash(doc)
	if err != nil {
		return tree.Append(nil)
	}
	chained.Set("receipt_hash", text(hash.String()))

	list := &mutate.Value{Open: '['}
	for range 1 + m.rand.IntN(2) {
		list.Items = append(list.Items, m.sign(signer, hash))
		signer = m.rand.IntN(len(m.signers))
	}
	tree.Set("signatures", list)
	return tree.Append(nil)
}

// sign returns an entry for the list of signatures.
func (m *mill) sign(signer int, hash canon.Digest) *mutate.Value {
	entry, err := m.signers[signer].Sign(context.Background(), []byte(hash.String()))
	if err != nil {
		panic(err) // the test keys can sign any message
	}
	encoded, err := json.Marshal(entry)
	if err != nil {
		panic(err)
	}
	return mutate.Parse(encoded)
}

// text returns a JSON string value.
func text(s string) *mutate.Value {
	encoded, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return &mutate.Value{Text: string(encoded)}
}
