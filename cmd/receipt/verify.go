package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

type verifyOptions struct {
	policyFlags
	format   string
	limit    int
	quiet    bool
	failFast bool
}

func newVerify(e *env) *cobra.Command {
	var o verifyOptions
	cmd := &cobra.Command{
		Use:   "verify [PATH…]",
		Short: "say what is true, what is false and what was not checked of receipts",
		Long: `Verify receipts, one JSON document each; - reads stdin.

Exit codes: 0 verified, 1 something is false or malformed, 2 something could not
be read or run as asked, 3 evidence is missing. With several receipts the first
of 1, 2, 3 that applies.

Trusted keys come from --keys, else $RECEIPT_KEYS, else receipt/keys.json in the
user's configuration folder: a JWK Set. They are never taken from a receipt.`,
		Example: `  receipt verify --keys keys.json receipt.json
  receipt verify --integrity-only --format json receipt.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := refuseEmpty(cmd); err != nil {
				return err
			}
			return verify(cmd.Context(), e, args, &o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.keys, "keys", "", "trusted keys, a JWK Set `FILE`")
	f.StringVar(&o.issuer, "issuer", "", "the `ID` of the issuer that receipts must have")
	f.StringVar(&o.policy, "policy", "", "what more is demanded, a JSON `FILE`: issuer, witnesses")
	f.StringVar(&o.at, "at", "", "judge keys at this `TIME` (RFC 3339) instead of issued_at")
	f.BoolVar(&o.integrityOnly, "integrity-only", false, "check content and hash, not signatures")
	f.BoolVar(&o.plain, "plain", false, "decide without this program's fast paths, to cross-check them")
	f.BoolVar(&o.strict, "strict", false, "undecided when any applicable step was not checked")
	f.BoolVar(&o.failFast, "fail-fast", false, "stop at the first receipt that is not verified")
	f.StringVar(&o.format, "format", "text", "print a `FORMAT`: text, json or ndjson")
	f.IntVar(&o.limit, "limit", 20, "print at most `N` refuted receipts for each code")
	f.BoolVar(&o.quiet, "quiet", false, "print no results; the exit code tells")
	return cmd
}

// check refuses flags that contradict each other or make no sense.
func (o *verifyOptions) check() error {
	switch {
	case o.limit < 0:
		return usage("", "--limit is 0 or more, found %d", o.limit)
	case o.format != "text" && o.format != "json" && o.format != "ndjson":
		return usage("", "--format is text, json or ndjson, found %q", o.format)
	case o.quiet && o.format != "text":
		return usage("", "--quiet prints no results, so it excludes --format %s", o.format)
	}
	return nil
}

// refuseEmpty refuses a flag that was given without a value, as by --issuer
// "$UNSET": that must not mean that nothing was demanded.
func refuseEmpty(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.String() == "" && err == nil {
			err = usage("leave the flag out, or give it a value", "--%s is empty", f.Name)
		}
	})
	return err
}

func verify(ctx context.Context, e *env, paths []string, o *verifyOptions) error {
	if len(paths) == 0 {
		if f, ok := e.in.(*os.File); ok && isTerminal(f) {
			return usage("receipt verify FILE, or - for stdin", "no receipt was given")
		}
		paths = []string{stdinName}
	}
	if slices.Index(paths, stdinName) != lastIndex(paths, stdinName) {
		return usage("", "- is given twice, but stdin can be read once")
	}
	if err := o.check(); err != nil {
		return err
	}
	verifier, file, err := o.verifier(e)
	if err != nil {
		return err
	}
	scope := receipt.ScopeFull
	if o.integrityOnly {
		scope = receipt.ScopeIntegrity
	}
	s := newSummary(e, scope, file)
	out := newPrinter(e, o, len(paths), file)
	if err := verifyAll(ctx, e, verifier, paths, o, s, out); err != nil {
		return err
	}
	s.finish(e)
	if err := out.end(s); err != nil {
		return err
	}
	return exitWith(s.exit())
}

func lastIndex(list []string, s string) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == s {
			return i
		}
	}
	return -1
}

// verifyAll verifies one input after the other. What cannot be read is told and
// counted, and does not stop the rest.
func verifyAll(ctx context.Context, e *env, v *receipt.Verifier, paths []string, o *verifyOptions, s *summary, out printer) error {
	doc, rep := new(canon.Document), new(receipt.Report)
	for i, path := range paths {
		data, err := readInput(e, path)
		if ctx.Err() != nil { // the input may have ended because of that
			return usage("", "interrupted")
		}
		if err != nil {
			s.Inputs.Unreadable = append(s.Inputs.Unreadable, notice{sourceName(path), err.Error()})
			tell(e, err)
			continue
		}
		s.Inputs.Files++
		s.Inputs.Bytes += int64(len(data))
		rep.Source = sourceName(path)
		v.VerifyBytes(data, doc, rep)
		s.add(rep, doc)
		if err := out.report(rep, doc); err != nil {
			return err
		}
		if o.failFast && rep.Verdict != receipt.Verified {
			s.unread = len(paths) - i - 1
			break
		}
	}
	return nil
}

func sourceName(path string) string {
	if path == stdinName {
		return "stdin"
	}
	return path
}

// tell prints an error that does not end the run.
func tell(e *env, err error) {
	fmt.Fprintf(e.err, "receipt: error: %s\n", escapeText(err.Error()))
	var f *failure
	if errors.As(err, &f) && f.hint != "" {
		fmt.Fprintf(e.err, "receipt: hint: %s\n", escapeText(f.hint))
	}
}

// A printer writes the results of a run to stdout.
type printer interface {
	report(*receipt.Report, *canon.Document) error
	end(*summary) error
}

func newPrinter(e *env, o *verifyOptions, inputs int, file *keyFile) printer {
	switch {
	case o.quiet:
		return quietPrinter{}
	case o.format == "json":
		return &jsonPrinter{w: e.out}
	case o.format == "ndjson":
		return &ndjsonPrinter{w: e.out}
	case inputs == 1:
		return &textPrinter{w: e.out, color: e.colored(), file: file}
	}
	return newListPrinter(e, o.limit, inputs, file)
}

type quietPrinter struct{}

func (quietPrinter) report(*receipt.Report, *canon.Document) error { return nil }
func (quietPrinter) end(*summary) error                            { return nil }

// sortStreams orders streams by their names, so that equal runs write equal
// bytes.
func sortStreams(list []streamEnd) {
	tenant := func(s streamEnd) string {
		if s.Stream.Tenant == nil {
			return ""
		}
		return "=" + *s.Stream.Tenant
	}
	slices.SortFunc(list, func(a, b streamEnd) int {
		return cmp.Or(cmp.Compare(a.Stream.Issuer, b.Stream.Issuer), cmp.Compare(tenant(a), tenant(b)), cmp.Compare(a.Stream.Workspace, b.Stream.Workspace))
	})
}
