package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/bench/internal/race"
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// A contestant verifies a receipt, and returns an error if the receipt is invalid.
type contestant struct {
	name   string
	verify func(text []byte) error
}

var errNotVerified = errors.New("not verified")

// verifier returns a verifier with the configuration that the command uses if it writes no report.
// In that case, nobody would see the digest of the input. If the set is nil, signatures are not
// verified.
func verifier(set *keys.Set) *receipt.Verifier {
	if set == nil {
		return must(receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true, NoInputDigest: true}))
	}
	return must(receipt.NewVerifier(set, receipt.Policy{NoInputDigest: true}))
}

// ours returns this module as used by a program that reads many receipts: with one Document and
// one Report for all of them.
func ours(set *keys.Set) contestant { return oursWith(verifier(set)) }

func oursWith(v *receipt.Verifier) contestant {
	doc, rep := new(canon.Document), new(receipt.Report)
	return contestant{"ours", func(text []byte) error {
		if v.VerifyBytes(text, doc, rep); rep.Verdict != receipt.Verified {
			return errNotVerified
		}
		return nil
	}}
}

// contestants returns this module and the naive composition.
func contestants(set *keys.Set) []contestant {
	return []contestant{ours(set), {"naive", newNaive(set).verify}}
}

// turn returns a turn that verifies the slice for its round.
func (c contestant) turn(s *sample) race.Turn {
	return race.Once(func(round int) error { return c.all(s.slice(round)) })
}

func (c contestant) all(receipts [][]byte) error {
	for i, text := range receipts {
		if err := c.verify(text); err != nil {
			return fmt.Errorf("%s: receipt %d of the slice: %w", c.name, i, err)
		}
	}
	return nil
}

// agree returns an error unless each contestant verifies every receipt in the sample and rejects
// every altered receipt. Otherwise, the comparison would be unfair.
func agree(ctx context.Context, s *sample, all []contestant, signed bool) error {
	for _, c := range all {
		for _, slice := range s.slices {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := c.all(slice); err != nil {
				return err
			}
		}
		for _, bad := range tampered(s.slices[0][0], signed) {
			if c.verify(bad) == nil {
				return fmt.Errorf("%s verifies an altered receipt", c.name)
			}
		}
	}
	return nil
}

// tampered returns a receipt in which one character of the content was replaced. If signed is set,
// it also returns a receipt in which one character of the signature was replaced. Both receipts
// still match the schema.
func tampered(text []byte, signed bool) [][]byte {
	marks := []string{`"receipt_id":"receipt_`}
	if signed {
		marks = append(marks, `"signature":"base64:`)
	}
	var all [][]byte
	for _, mark := range marks {
		bad := bytes.Clone(text)
		at := bytes.Index(bad, []byte(mark)) + len(mark)
		if bad[at] == 'A' {
			bad[at] = 'B'
		} else {
			bad[at] = 'A'
		}
		all = append(all, bad)
	}
	return all
}
