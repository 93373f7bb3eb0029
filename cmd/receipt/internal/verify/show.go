package verify

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/print"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/internal/headline"
	"github.com/receiptkit/receiptkit/receipt"
)

type showOptions struct {
	git, keys string
	full      bool
	last      bool
	judge     string // command that verifies the receipt
}

// NewShow returns the command "receipt show".
func NewShow(e *cli.Env) *cobra.Command {
	o := &showOptions{}
	cmd := &cobra.Command{
		Use:   "show FILE|--last",
		Short: "print a receipt in readable form",
		Long: `Print what a receipt states, and verify it with trusted keys; without keys, check
only its hash. --git adds the first commit containing each written content.

Exit code 1: the receipt is refuted or invalid. 3: its format is not supported.`,
		Example: `  receipt show receipt.json
  receipt show --last --full`,
		Args: func(cmd *cobra.Command, args []string) error {
			if o.last {
				return cli.ExactArgs(0, "no receipt with --last")(cmd, args)
			}
			if len(args) == 0 {
				return cli.Usage("use --last for the newest receipt of the ledger of receipt init", "expected one receipt, found 0")
			}
			return cli.ExactArgs(1, "one receipt")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.last {
				data, id, err := newest(cmd.Context(), e)
				if err != nil {
					return err
				}
				o.judge = "receipt verify"
				return o.show(cmd.Context(), e, id, data)
			}
			data, err := input.ReadReceipt(e, args[0])
			if err != nil {
				return err
			}
			if err := input.RefuseDraft(args[0], data, " -o RECEIPT"); err != nil {
				return err
			}
			o.judge = "receipt verify " + cli.ShellFile(cli.SourceName(args[0]))
			return o.show(cmd.Context(), e, args[0], data)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.git, "git", "", "git repository to search (`DIR`)")
	f.StringVarP(&o.keys, "keys", "k", "", "trusted keys (JWK Set) (`FILE`)")
	f.BoolVar(&o.full, "full", false, "add entries, digests, and pointers")
	f.BoolVar(&o.last, "last", false, "newest receipt of the default ledger")
	return cmd
}

// Show prints a receipt for people. The parameter path is the name of the receipt's source, and
// judge is the command that verifies signatures.
func Show(e *cli.Env, path string, data []byte, judge string) error {
	return (&showOptions{judge: judge}).show(context.Background(), e, path, data)
}

func (o *showOptions) show(ctx context.Context, e *cli.Env, path string, data []byte) error {
	v, file, err := trust.VerifierIfKeys(e, o.keys)
	if err != nil {
		return err
	}
	if file == nil {
		o.judge += " --keys KEYS"
	}
	o.judge += file.Flag()

	doc, rep := new(canon.Document), &receipt.Report{Source: cli.SourceName(path)}
	v.VerifyBytes(data, doc, rep)
	if doc.Root().Kind() != canon.KindObject {
		f := rep.Finding()
		return cli.Refuted(f.Hint, "%q is not a receipt: %s: %s", cli.SourceName(path), f.Code, f.Detail)
	}

	b, s := &print.Block{}, ShownOf(doc)
	s.b = b
	if rep.Verdict == receipt.Refuted { // the faults are printed first
		s.refuted(rep)
	}
	s.describe()
	for _, w := range rep.Warnings {
		s.row("Warning", w.Detail)
	}
	if rep.Verdict != receipt.Refuted {
		s.verdict(rep, o.judge)
	}
	if o.full {
		b.WriteByte('\n')
		table{s}.write()
	}
	if o.git != "" {
		b.WriteByte('\n')
		if err := (commits{s}).write(ctx, o.git); err != nil {
			return err
		}
	}

	if _, err := e.Text().Write(b.Bytes()); err != nil {
		return err
	}
	if rep.Verdict == receipt.Undecided && rep.Check(receipt.StepHash).Status == receipt.StatusPassed {
		return nil
	}
	return cli.ExitWith(cli.VerdictExit(rep.Verdict))
}

// describe prints the title, the headline, and the rows of the receipt.
func (s *Shown) describe() {
	h := s.Headline()
	for _, line := range []string{h.Title.String(), h.Sentence.String()} {
		if line != "" {
			fmt.Fprintln(s.b, cli.EscapeLine(line))
		}
	}
	s.b.WriteByte('\n')
	for _, r := range h.Rows {
		s.row(r.Label, r.Text.String())
	}
}

// row prints a row of the description. Two spaces follow the longest label, so that lines are
// folded below the text.
func (s *Shown) row(label, text string) { fmt.Fprintf(s.b, "%-14s%s\n", label, cli.EscapeLine(text)) }

// verdict prints the verdict on a receipt that is not refuted and lists the checks that were not
// made.
func (s *Shown) verdict(rep *receipt.Report, judge string) {
	switch {
	case rep.Verdict == receipt.Undecided:
		f := rep.Finding()
		s.row("Undecided", string(f.Code)+": "+f.Detail)
		if rep.Check(receipt.StepHash).Status == receipt.StatusPassed {
			s.row("", "the content matches its hash; for advice: "+judge)
		}
	case rep.Scope == receipt.ScopeIntegrity:
		s.row("Intact", "the content matches its hash; signer not checked: "+judge)
	default:
		label := "Verified"
		for _, sig := range rep.Signatures {
			if text := signedBy(sig, s.Root.Member("issuer").Member("id").String()); text != "" {
				s.row(label, text)
				label = ""
			}
		}
		for _, n := range rep.NotChecked {
			s.row(label, "not checked: "+n.Detail)
			label = ""
		}
	}
}

// signedBy describes a signature that was accepted.
func signedBy(sig receipt.SignatureResult, issuer string) string {
	switch sig.Role {
	case receipt.RoleIssuer:
		return "signed by " + sig.KeyID + ", trusted for " + issuer
	case receipt.RoleWitness:
		return "witnessed by " + sig.KeyID
	}
	return ""
}

// A Shown formats a receipt based on its document, so that the readable parts of an invalid receipt
// are displayed.
type Shown struct {
	*headline.Reading
	b *print.Block
}

// ShownOf returns a Shown for a receipt. It also reads which values the source did not report, or
// reported as a bound or an estimate.
func ShownOf(doc *canon.Document) *Shown { return &Shown{Reading: headline.Read(doc.Root())} }

// refuted prints the faults before everything else.
func (s *Shown) refuted(rep *receipt.Report) {
	text := "REFUTED: a check failed."
	switch {
	case rep.Check(receipt.StepHash).Status == receipt.StatusFailed:
		text = "NOT INTACT: the content does not match its hash."
	case rep.Check(receipt.StepHash).Status != receipt.StatusPassed:
		text = "NOT VALID: this is not a receipt in the required format."
	}
	fmt.Fprintln(s.b, text+" Do not rely on the rest.")
	for _, checks := range print.Failures(rep) {
		print.Failed(s.b, checks)
		if hint := checks[0].Hint; hint != "" {
			s.b.Prose("hint", hint)
		}
	}
	s.b.WriteByte('\n')
}

// text returns the string at a path of member names, shortened to 300 characters. If the value is
// absent or was not reported by the source, it returns a phrase that states this. Other values are
// returned as JSON.
func (s *Shown) text(n canon.Node, names ...string) string {
	for _, name := range names {
		n = n.Member(name)
	}
	if s.Hidden(n) {
		return headline.NotRecorded
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

// named returns the text of a member, or states that it was not reported.
func (s *Shown) named(n canon.Node, name, noun string) string {
	if s.Hidden(n.Member(name)) {
		return noun + " " + headline.NotRecorded
	}
	return s.text(n, name)
}

// continuity prints whether each write to a file starts with the content that the previous write
// left.
func (s *Shown) continuity(n canon.Node) {
	if n.Kind() != canon.KindObject {
		return
	}
	number := func(name string) string { return cli.Number(n.Member(name)) + " " + name }
	s.b.Row("continuity", "of "+number("pairs")+" of successive writes: "+number("held")+", "+number("broken")+", "+number("unchecked"))
}
