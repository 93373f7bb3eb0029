package verify

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/internal/headline"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/internal/untrusted"
)

// NewDiff returns the command "receipt diff".
func NewDiff(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "diff A B",
		Short: "print the differences between two receipts, and whether their hashes are equal",
		Long: `Print the differences between two receipts by JSON Pointer: - only in A, + only
in B, ~ in both with different values. Values are compared in canonical form.
Values that the source of a receipt did not report, or reported as a bound, are
marked.

Exit code 1: the contents differ. 2: a receipt could not be read, or contains an
integer outside ±9007199254740991.`,
		Example: `  receipt diff mine.json theirs.json
  receipt diff - theirs.json < mine.json`,
		Args: cli.ExactArgs(2, "two receipts"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, b, err := readPair(e, args)
			if err != nil {
				return err
			}

			d := differences{a: ShownOf(a), b: ShownOf(b)}
			d.compare(a.Root(), b.Root())
			if d.count == 0 {
				fmt.Fprintln(&d.text, "no differences")
			}

			d.hashes(a, b)
			if _, err := e.Text().Write(d.text.Bytes()); err != nil {
				return err
			}
			if d.count > 0 {
				return cli.ExitWith(cli.ExitRefuted)
			}

			return nil
		},
	}
}

// readPair reads two receipts. The exit code for an error is 2, because some inputs cannot be
// compared: input that is not JSON, and integers that the canonical form rounds.
func readPair(e *cli.Env, paths []string) (a, b *canon.Document, err error) {
	if paths[0] == cli.StdinName && paths[1] == cli.StdinName {
		return nil, nil, cli.Usage("", "- is specified twice, but stdin can be read only once")
	}
	if a, err = readSide(e, paths[0]); err == nil {
		b, err = readSide(e, paths[1])
	}
	if f, ok := err.(*cli.Failure); ok {
		err = &cli.Failure{Code: cli.ExitUsage, Err: f.Err, Hint: f.Hint}
	}
	return a, b, err
}

// readSide reads one of the two receipts. It rejects a private key, because the members of the key
// would be printed.
func readSide(e *cli.Env, path string) (*canon.Document, error) {
	doc, err := input.ReadHashable(e, path)
	if err != nil {
		return nil, err
	}
	if f := kind.Of(doc.Root().Raw(), true); f.Kind == kind.PrivateKey {
		return nil, cli.Usage(input.Next(f, path), "%q is %s, expected a receipt", cli.SourceName(path), f.What)
	}
	return doc, nil
}

type differences struct {
	a, b  *Shown
	text  bytes.Buffer
	count int
	path  []string // reference tokens in the pointer to the compared values
}

func (d *differences) compare(a, b canon.Node) {
	switch {
	case a.IsZero():
		d.line('+', d.value(d.b, b))
	case b.IsZero():
		d.line('-', d.value(d.a, a))
	case a.Kind() == canon.KindObject && b.Kind() == canon.KindObject:
		d.members(a, b)
	case a.Kind() == canon.KindArray && b.Kind() == canon.KindArray:
		d.elements(a, b)
	case !bytes.Equal(a.AppendCanonical(nil), b.AppendCanonical(nil)):
		d.line('~', d.value(d.a, a)+" → "+d.value(d.b, b))
	}
}

// value formats a value from one side. If the source reported only a bound or an estimate, or did
// not report the value, the result states this.
func (d *differences) value(of *Shown, n canon.Node) string {
	text := cli.Show(n)
	if len(of.Unreported)+len(of.Over)+len(of.Estimated) == 0 {
		return text
	}

	// Only numbers and lists can be bounds. A value inside an incomplete list is not a bound.
	pointer := d.pointer()
	unreported := of.Hides(pointer)
	_, over := slices.BinarySearch(of.Over, pointer)
	bounds := n.Kind() == canon.KindNumber || n.Kind() == canon.KindArray
	switch nothing := !bounds || n.Float() == 0 && n.Len() == 0; {
	case unreported && nothing:
		return text + " (" + headline.NotRecorded + ")"
	case bounds && (unreported || over):
		return of.Bound(pointer) + text + of.Reckoned(pointer)
	}
	return text + of.Reckoned(pointer)
}

// below compares the values of a member or an element at the path extended by token.
func (d *differences) below(token string, a, b canon.Node) {
	d.path = append(d.path, token)
	d.compare(a, b)
	d.path = d.path[:len(d.path)-1]
}

func (d *differences) members(a, b canon.Node) {
	inB := map[string]canon.Node{}
	for name, value := range b.Members() {
		inB[name.String()] = value
	}

	for name, value := range a.Members() {
		text := name.String()
		d.below(text, value, inB[text])
		delete(inB, text)
	}

	// The remaining members exist only in B.
	for name, value := range b.Members() { // in source order
		text := name.String()
		if _, only := inB[text]; only {
			d.below(text, canon.Node{}, value)
		}
	}
}

func (d *differences) elements(a, b canon.Node) {
	var inB []canon.Node
	for _, e := range b.Elements() {
		inB = append(inB, e)
	}

	// Elements are compared by their index.
	n := 0
	for i, e := range a.Elements() {
		other := canon.Node{}
		if i < len(inB) {
			other = inB[i]
		}
		d.below(strconv.Itoa(i), e, other)
		n++
	}

	for i := n; i < len(inB); i++ {
		d.below(strconv.Itoa(i), canon.Node{}, inB[i])
	}
}

func (d *differences) line(sign byte, values string) {
	d.count++
	at := "(whole document)"
	if len(d.path) > 0 {
		at = d.pointer()
	}
	fmt.Fprintf(&d.text, "%c %s  %s\n", sign, cli.EscapeLine(at), values)
}

// pointer returns the pointer to the compared values. Its length is limited, and it is created only
// for lines that are printed, because a name can be as long as a receipt and can enclose a million
// values.
func (d *differences) pointer() string {
	const most = 256
	var b []byte
	for _, token := range d.path {
		b = canon.AppendToken(b, token[:min(len(token), most)])
		if len(b) > most {
			break
		}
	}
	return untrusted.Cut(b, most)
}

// hashes prints whether the contents have the same hash, and whether each content matches its
// stated hash.
func (d *differences) hashes(a, b *canon.Document) {
	hashA, errA := chain.Hash(a)
	hashB, errB := chain.Hash(b)
	if errA != nil || errB != nil || a.Root().Member("chain").IsZero() && b.Root().Member("chain").IsZero() {
		return // not receipts
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
		return "matches the hash it states"
	}
	return "does NOT match the hash it states"
}
