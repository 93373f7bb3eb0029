package main

import (
	"bytes"
	"crypto/sha256"

	"github.com/receiptkit/receiptkit/bench/internal/corpus"
	"github.com/receiptkit/receiptkit/bench/internal/race"
	"github.com/receiptkit/receiptkit/bench/internal/result"
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// plainCount is the number of minimal receipts in a round.
const plainCount = 2000

// checkpoint compares the verification of minimal receipts under a checkpoint with the naive
// composition. A checkpoint by the issuer is accepted as the issuer's signature of every receipt in
// the tree, so these receipts have no signatures. The naive composition does not support
// checkpoints, so it verifies the same receipts with one signature each.
func (b *bench) checkpoint() []result.Line {
	signed := must(take(b.ctx, corpus.Config{Kind: corpus.Minimal, Receipts: b.rounds * plainCount, Seed: seed}, b.rounds, b.rounds*plainCount, nil))
	covered := signed.unsigned()
	us := oursWith(covered.under(b))
	check(agree(b.ctx, covered, []contestant{us}, false))
	them := contestant{"naive", newNaive(signed.set).verify}
	check(agree(b.ctx, signed, []contestant{them}, true))
	times := must(race.Rounds(b.ctx, b.rounds, us.turn(covered), them.turn(signed)))
	return []result.Line{atLeast(leastCheckpoint, "checkpoint/naive", "verify receipts of 1.3 KB under a checkpoint, × naive", times.Ratio(1, 0))}
}

// unsigned returns the sample without the signatures, which the hashes do not cover.
func (s *sample) unsigned() *sample {
	without := &sample{}
	for _, slice := range s.slices {
		var texts [][]byte
		for _, text := range slice {
			begin := bytes.Index(text, []byte(`"signatures":[`)) + len(`"signatures":[`)
			end := begin + bytes.IndexByte(text[begin:], ']')
			texts = append(texts, append(bytes.Clone(text[:begin]), text[end:]...))
		}
		without.slices = append(without.slices, texts)
	}
	return without
}

// under returns a verifier that has compared a checkpoint with the receipts, as package stream
// does. The tree over all receipts has the root that the issuer signed.
func (s *sample) under(b *bench) *receipt.Verifier {
	const origin = "log.example/bench"
	var tree merkle.Tree
	doc := new(canon.Document)
	for _, slice := range s.slices {
		for _, text := range slice {
			check(doc.Parse(text, canon.Limits{}))
			hash := must(canon.ParseDigest(doc.Root().Member("chain").Member("receipt_hash").Text()))
			tree.Append(receipt.CheckpointLeaf(hash))
		}
	}

	secret := sha256.Sum256([]byte("TEST KEY of a log, NEVER TRUST IT"))
	key := must(keys.Generate(bytes.NewReader(secret[:]), keys.Ed25519, "test_log"))
	key = key.For([]receipt.Role{receipt.RoleIssuer, receipt.RoleCheckpoint}, origin)
	public := key.Public()
	public.Issuers = []string{doc.Root().Member("issuer").Member("id").String()}
	file := new(keys.File)
	check(file.Add(public))

	v := verifier(must(keys.ParseSet(must(file.Marshal()))))
	note := must(keys.NewSigner(key, nil).SignCheckpoint(b.ctx, &tlog.Checkpoint{Origin: origin, Size: tree.Size(), Root: tree.Root()}))
	return must(v.With(receipt.Evidence{Checkpoint: v.OpenCheckpoint(note)}))
}
