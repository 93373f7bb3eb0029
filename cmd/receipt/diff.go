package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
)

func newDiff(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "diff A B",
		Short: "show how two receipts differ, and whether their hashes agree",
		Long: `Show the differences of two receipts by JSON Pointer: - only in A, + only in B,
~ in both with different values. Values are compared in canonical form, so white
space, the order of members and the spelling of numbers make no difference.

Exit codes: 0 when the contents are equal, 1 when they differ, 2 when one of them
could not be read, or has an integer outside ±9007199254740991, which the canonical
form rounds.`,
		Example: `  receipt diff mine.json theirs.json
  receipt diff - theirs.json < mine.json`,
		Args: exactArgs(2, "two receipts"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == stdinName && args[1] == stdinName {
				return usage("", "- is given twice, but stdin can be read once")
			}
			a, err := readHashable(e, args[0])
			if err != nil {
				return unreadable(err)
			}
			b, err := readHashable(e, args[1])
			if err != nil {
				return unreadable(err)
			}
			var d differences
			d.compare(nil, a.Root(), b.Root())
			if d.count == 0 {
				fmt.Fprintln(&d.text, "no differences")
			}
			d.hashes(a, b)
			if _, err := e.out.Write(d.text.Bytes()); err != nil {
				return err
			}
			if d.count > 0 {
				return exitWith(exitRefuted)
			}
			return nil
		},
	}
}

// unreadable turns a refusal into exit 2: a comparison with what is no JSON, or
// with an integer that looks like others in canonical form, cannot be made.
func unreadable(err error) error {
	if f, ok := err.(*failure); ok {
		return &failure{exitUsage, f.err, f.hint}
	}
	return err
}

type differences struct {
	text  bytes.Buffer
	count int
}

func (d *differences) compare(at []byte, a, b canon.Node) {
	switch {
	case a.IsZero():
		d.line('+', at, show(b))
	case b.IsZero():
		d.line('-', at, show(a))
	case a.Kind() == canon.KindObject && b.Kind() == canon.KindObject:
		d.members(at, a, b)
	case a.Kind() == canon.KindArray && b.Kind() == canon.KindArray:
		d.elements(at, a, b)
	case !bytes.Equal(a.AppendCanonical(nil), b.AppendCanonical(nil)):
		d.line('~', at, show(a)+" → "+show(b))
	}
}

func (d *differences) members(at []byte, a, b canon.Node) {
	inB := map[string]canon.Node{}
	for name, value := range b.Members() {
		inB[name.String()] = value
	}
	for name, value := range a.Members() {
		d.compare(canon.AppendToken(bytes.Clone(at), name.String()), value, inB[name.String()])
		delete(inB, name.String())
	}
	for name, value := range b.Members() { // in source order
		if _, only := inB[name.String()]; only {
			d.compare(canon.AppendToken(bytes.Clone(at), name.String()), canon.Node{}, value)
		}
	}
}

func (d *differences) elements(at []byte, a, b canon.Node) {
	var inB []canon.Node
	for _, e := range b.Elements() {
		inB = append(inB, e)
	}
	n := 0
	for i, e := range a.Elements() {
		other := canon.Node{}
		if i < len(inB) {
			other = inB[i]
		}
		d.compare(fmt.Appendf(bytes.Clone(at), "/%d", i), e, other)
		n++
	}
	for i := n; i < len(inB); i++ {
		d.compare(fmt.Appendf(bytes.Clone(at), "/%d", i), canon.Node{}, inB[i])
	}
}

func (d *differences) line(sign byte, at []byte, values string) {
	d.count++
	if len(at) == 0 {
		at = []byte("(whole document)")
	}
	fmt.Fprintf(&d.text, "%c %s  %s\n", sign, escapeLine(string(at)), values)
}

// show is a value for a line: canonical, escaped, bounded.
func show(n canon.Node) string {
	text := []rune(string(n.AppendCanonical(nil)))
	if len(text) > 80 {
		text = append(text[:80], '…')
	}
	return escapeLine(string(text))
}

// hashes tells whether the two contents hash the same, and whether each fits the
// hash that it states.
func (d *differences) hashes(a, b *canon.Document) {
	hashA, errA := chain.Hash(a)
	hashB, errB := chain.Hash(b)
	if errA != nil || errB != nil || a.Root().Member("chain").IsZero() && b.Root().Member("chain").IsZero() {
		return // no receipts
	}
	if hashA == hashB {
		fmt.Fprintf(&d.text, "hash  equal: %s\n", hashA)
	} else {
		fmt.Fprintf(&d.text, "hash  A has %s\n      B has %s\n", hashA, hashB)
	}
	fmt.Fprintf(&d.text, "      A %s, B %s\n", fits(a, hashA), fits(b, hashB))
}

func fits(d *canon.Document, computed canon.Digest) string {
	stated, err := canon.ParseDigest(d.Root().Member("chain").Member("receipt_hash").Text())
	switch {
	case err != nil:
		return "states no valid hash"
	case stated == computed:
		return "fits the hash it states"
	}
	return "does NOT fit the hash it states"
}
