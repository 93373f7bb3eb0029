package verify

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/print"
	"github.com/receiptkit/receiptkit/receipt"
)

// NewShow makes the verb show.
func NewShow(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "show FILE",
		Short: "show a receipt to a person",
		Long: `Show what a receipt says, and whether its content fits its hash. Signatures are
not checked here: receipt verify does that.

Exit codes: 0 when the content fits the hash, 1 when it does not or the document
is not a valid receipt, 2 when it could not be read.`,
		Example: `  receipt show receipt.json
  receipt show - < receipt.json`,
		Args: cli.ExactArgs(1, "one receipt"),
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := input.ReadReceipt(e, args[0])
			if err != nil {
				return err
			}
			if err := input.RefuseDraft(args[0], data, " -o RECEIPT"); err != nil {
				return err
			}
			return Show(e, args[0], data, "receipt verify "+cli.ShellFile(cli.SourceName(args[0])))
		},
	}
}

// Show shows a receipt to a person; path is what its source is called, and
// judge the command that checks who signed.
func Show(e *cli.Env, path string, data []byte, judge string) error {
	// Signatures are for receipt verify.
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true, Now: e.Now()})
	if err != nil {
		return err
	}

	doc, rep := new(canon.Document), &receipt.Report{Source: cli.SourceName(path)}
	v.VerifyBytes(data, doc, rep)
	if doc.Root().Kind() != canon.KindObject {
		f := rep.Finding()
		return cli.Refuted(f.Hint, "%q is not a receipt: %s: %s", cli.SourceName(path), f.Code, f.Detail)
	}

	b, s := &print.Block{}, ShownOf(doc)
	s.b = b
	if rep.Verdict == receipt.Refuted { // that comes first
		s.refuted(rep)
		fmt.Fprintln(b, cli.EscapeLine(s.Sentence()))
	} else {
		fmt.Fprintln(b, cli.EscapeLine(s.Sentence()))
		fmt.Fprintln(b, integrityLine(rep, judge))
	}

	b.WriteByte('\n')
	table{s}.write()
	for _, w := range rep.Warnings {
		b.Row("warning", w.Detail)
	}

	if _, err := e.Text().Write(b.Bytes()); err != nil {
		return err
	}
	return cli.ExitWith(cli.VerdictExit(rep.Verdict))
}

func integrityLine(rep *receipt.Report, judge string) string {
	if rep.Verdict == receipt.Verified {
		return "Intact: the content fits its hash. Signer not checked: " + judge
	}
	return "Not decided: " + cli.EscapeLine(rep.Finding().Detail)
}

// Shown renders a receipt from its document, so that one that is not valid is
// shown as far as it goes.
type Shown struct {
	Root      canon.Node
	untold    receipt.Pointers
	over      receipt.Pointers
	estimated receipt.Pointers
	b         *print.Block
}

// ShownOf is a receipt with what its source did not tell, or told as a bound or an estimate.
func ShownOf(doc *canon.Document) *Shown {
	root := doc.Root()
	return &Shown{Root: root, untold: receipt.ReadUnreported(root), over: receipt.ReadAtMost(root), estimated: print.ReadEstimated(root)}
}

// Sentence says what happened in one line. What the source did not tell is not a
// number in it.
func (s *Shown) Sentence() string { return sentence{s}.line() }

// refuted says what is wrong before anything else.
func (s *Shown) refuted(rep *receipt.Report) {
	if rep.Check(receipt.StepHash).Status == receipt.StatusFailed {
		fmt.Fprintln(s.b, "NOT INTACT: the content does not fit its hash. Do not rely on what follows.")
	} else {
		fmt.Fprintln(s.b, "NOT VALID: this is not a receipt as the format has it. Do not rely on what follows.")
	}
	for _, checks := range print.Failures(rep) {
		print.Failed(s.b, checks)
		if hint := checks[0].Hint; hint != "" {
			s.b.Prose("hint", hint)
		}
	}
	s.b.WriteByte('\n')
}

// text is the string at a path of names, if the source told it. What is not a string is
// shown as JSON.
func (s *Shown) text(n canon.Node, names ...string) string {
	for _, name := range names {
		n = n.Member(name)
	}
	if s.hidden(n) {
		return notTold
	}
	switch n.Kind() {
	case canon.KindInvalid:
		return "(absent)"
	case canon.KindString:
		const most = 300
		if text := []rune(n.String()); len(text) > most {
			return string(text[:most]) + "…"
		}
		return n.String()
	}
	return cli.Show(n)
}

// named is the text of a member, or that nobody told this noun.
func (s *Shown) named(n canon.Node, name, noun string) string {
	if s.hidden(n.Member(name)) {
		return noun + " " + notTold
	}
	return s.text(n, name)
}

// hidden reports whether the source did not tell a value, so that what stands there is no
// statement. The entries of a list that may hold more were told, and so was what stands in
// an entry of which it is open whether it happened.
func (s *Shown) hidden(n canon.Node) bool {
	return len(s.untold) > 0 && !n.IsZero() && s.hides(n.Pointer())
}

// hides is hidden for the value at a pointer. It looks upward from the value itself: in an
// entry of a list only what is listed itself is untold.
func (s *Shown) hides(pointer string) bool {
	if s.lists(pointer) {
		return true
	}
	for pointer != "" && !isIndex(path.Base(pointer)) {
		pointer = pointer[:strings.LastIndexByte(pointer, '/')]
		if !isIndex(path.Base(pointer)) && s.lists(pointer) {
			return true
		}
	}
	return false
}

// lists reports whether the receipt lists just this pointer.
func (s *Shown) lists(pointer string) bool {
	_, listed := slices.BinarySearch(s.untold, pointer)
	return listed
}

// isIndex reports whether a token of a pointer is the place of an entry.
func isIndex(token string) bool {
	_, err := strconv.ParseUint(token, 10, 64)
	return err == nil
}

// possible reports whether it is open if an entry of a list happened at all.
func (s *Shown) possible(entry canon.Node) bool {
	return len(s.untold) > 0 && s.lists(entry.Pointer())
}

// reckoned says behind an amount that its source estimates it, and that it is no bill.
func (s *Shown) reckoned(pointer string) string {
	if _, listed := slices.BinarySearch(s.estimated, pointer); listed {
		return " (estimated by the source)"
	}
	return ""
}

// bound says what a number or the length of a list is a bound of. One that may be both
// too small and too large is only what the source told.
func (s *Shown) bound(pointer string) string {
	return between(s.untold.Has(pointer), s.over.Has(pointer))
}

// bounds reports whether the receipt lists just this value as one that may be too small, and
// as one that may be too large.
func (s *Shown) bounds(n canon.Node) (under, over bool) {
	if len(s.untold)+len(s.over) == 0 || n.IsZero() {
		return false, false
	}
	at := n.Pointer()
	_, over = slices.BinarySearch(s.over, at)
	return s.lists(at), over
}

// between is bound for a number of which it is known whether it may be too small, and too
// large.
func between(under, over bool) string {
	switch {
	case under && over:
		return "reportedly "
	case under:
		return "at least "
	case over:
		return "at most "
	}
	return ""
}
