package verify

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/print"
	"github.com/receiptkit/receiptkit/internal/headline"
	"github.com/receiptkit/receiptkit/receipt"
)

// NewShow returns the show command.
func NewShow(e *cli.Env) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "show FILE",
		Short: "print a receipt in readable form",
		Long: `Print what a receipt states, and whether its content matches its hash.
Signatures are not checked; use receipt verify. --git adds the first commit and
path with the content of each written file.

Exit code 1: the content does not match the hash, or the document is not a valid
receipt.`,
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
			return show(cmd.Context(), e, args[0], data, "receipt verify "+cli.ShellFile(cli.SourceName(args[0])), dir)
		},
	}
	cmd.Flags().StringVar(&dir, "git", "", "git repository to search, which is not changed (`DIR`)")
	return cmd
}

// Show prints a receipt for people. path is the name of its source, and judge is the
// command that verifies the signatures.
func Show(e *cli.Env, path string, data []byte, judge string) error {
	return show(context.Background(), e, path, data, judge, "")
}

// show is like Show, with the commits of the repository in dir, unless dir is "".
func show(ctx context.Context, e *cli.Env, path string, data []byte, judge, dir string) error {
	// Signatures are left to receipt verify.
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
	if rep.Verdict == receipt.Refuted { // the fault comes first
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
	if dir != "" {
		if err := (commits{s}).write(ctx, dir); err != nil {
			return err
		}
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

// Shown formats a receipt from its document, so that even an invalid receipt is shown as far as it
// can be read.
type Shown struct {
	*headline.Reading
	b *print.Block
}

// ShownOf returns a receipt, with the values that its source did not report, or reported as
// a bound or an estimate.
func ShownOf(doc *canon.Document) *Shown { return &Shown{Reading: headline.Read(doc.Root())} }

// refuted prints the faults first.
func (s *Shown) refuted(rep *receipt.Report) {
	if rep.Check(receipt.StepHash).Status == receipt.StatusFailed {
		fmt.Fprintln(s.b, "NOT INTACT: the content does not match its hash. Do not rely on the rest.")
	} else {
		fmt.Fprintln(s.b, "NOT VALID: this is not a receipt in the required format. Do not rely on the rest.")
	}
	for _, checks := range print.Failures(rep) {
		print.Failed(s.b, checks)
		if hint := checks[0].Hint; hint != "" {
			s.b.Prose("hint", hint)
		}
	}
	s.b.WriteByte('\n')
}

// text returns the string at a path of names, if the source reported it. Other values are
// formatted as JSON.
func (s *Shown) text(n canon.Node, names ...string) string {
	for _, name := range names {
		n = n.Member(name)
	}
	if s.Hidden(n) {
		return headline.NotTold
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

// named returns the text of a member, or states that the noun was not reported.
func (s *Shown) named(n canon.Node, name, noun string) string {
	if s.Hidden(n.Member(name)) {
		return noun + " " + headline.NotTold
	}
	return s.text(n, name)
}
