package main

import (
	"cmp"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/bench/internal/race"
	"github.com/receiptkit/receiptkit/bench/internal/result"
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// warmUses is how often each key is used before the measurement, so that a set has already done all
// of its work for frequently used keys.
const warmUses = 1024

// A signature is one signature entry of a receipt, in the forms that the rivals need.
type signature struct {
	message []byte
	entry   receipt.Entry
	key     ed25519.PublicKey
	value   []byte
	turn    int // number of earlier signatures with the same key
}

// signatures compares the speed of keys.Set with that of crypto/ed25519. Both must return the same
// results. The keys are used in turn.
func (b *bench) signatures() []result.Line {
	b.sample.warm()
	set := b.sample.set
	var slices [][]signature
	for _, receipts := range b.sample.slices {
		slices = append(slices, signatures(set, receipts))
	}
	ours := func(round int) error { return checkAll(set, slices[round%len(slices)]) }
	theirs := func(round int) error {
		for _, s := range slices[round%len(slices)] {
			if !ed25519.Verify(s.key, s.message, s.value) {
				return fmt.Errorf("crypto/ed25519 refuses a signature of %s", s.entry.KeyID)
			}
		}
		return nil
	}
	for round := range slices { // all must agree
		check(errors.Join(ours(round), theirs(round)))
	}
	check(refusedByBoth(set, slices[0][0]))
	times := must(race.Rounds(b.ctx, b.rounds, race.Once(ours), race.Once(theirs)))
	return []result.Line{atLeast(2.5, "ed25519/standard", "Ed25519 with 8 keys in turn, × crypto/ed25519", times.Ratio(1, 0))}
}

// warm uses each key in the set often.
func (s *sample) warm() {
	if s.warmed {
		return
	}
	list := signatures(s.set, slices.Concat(s.slices...))
	uses := map[string]int{}
	for _, one := range list {
		id := string(one.entry.KeyID)
		for ; uses[id] < warmUses; uses[id]++ {
			check(checkAll(s.set, []signature{one}))
		}
	}
	s.warmed = true
}

// signatures returns the signatures on receipts, ordered so that their keys alternate.
func signatures(set *keys.Set, receipts [][]byte) []signature {
	public, seen := publicKeys(set), map[string]int{}
	var list []signature
	for _, text := range receipts {
		doc := must(canon.Parse(text))
		for _, e := range doc.Root().Member("signatures").Elements() {
			entry := receipt.Entry{KeyID: e.Member("key_id").Text(), Algorithm: e.Member("algorithm").Text(), Signature: e.Member("signature").Text()}
			id := string(entry.KeyID)
			value := must(base64.StdEncoding.DecodeString(strings.TrimPrefix(string(entry.Signature), "base64:")))
			message := doc.Root().Member("chain").Member("receipt_hash").Text()
			list = append(list, signature{message, entry, public[id], value, seen[id]})
			seen[id]++
		}
	}
	slices.SortStableFunc(list, func(a, b signature) int {
		return cmp.Or(cmp.Compare(a.turn, b.turn), cmp.Compare(string(a.entry.KeyID), string(b.entry.KeyID)))
	})
	return list
}

func checkAll(set *keys.Set, list []signature) error {
	for i := range list {
		if _, err := set.CheckSignature(list[i].message, &list[i].entry); err != nil {
			return err
		}
	}
	return nil
}

// refusedByBoth returns an error unless both reject a signature of another message.
func refusedByBoth(set *keys.Set, s signature) error {
	s.message = append([]byte("sha256:0"), s.message[len("sha256:")+1:]...)
	if s.message[len(s.message)-1]++; ed25519.Verify(s.key, s.message, s.value) {
		return fmt.Errorf("crypto/ed25519 takes the signature of another message")
	}
	if _, err := set.CheckSignature(s.message, &s.entry); err == nil {
		return fmt.Errorf("package keys takes the signature of another message")
	}
	return nil
}
