package conformance

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt"
)

// The verdicts that an answer may contain. The index of a verdict is its exit status.
var verdicts = [...]string{"valid", "invalid", "undecidable"}

// noAnswer is an exit status that does not represent an answer.
const noAnswer = 4

// jwksVariable is the name of the environment variable with the key set for third-party receipts.
const jwksVariable = "AEV_RECEIPT_JWKS"

// contextVariable is the name of the environment variable with the receipts that precede a
// third-party receipt. It must not be set, because chains of third-party receipts are not checked.
const contextVariable = "AEV_RECEIPT_CONTEXT"

// An answer is the last line of a verifier's output.
type answer struct {
	Verdict string  `json:"verdict"`
	Code    *string `json:"code"`

	step string // checks on which the answer is based, if the verifier is receipt itself
}

// reply returns an answer. If code is empty, the code in the answer is null.
func reply(status int, code, step string) *answer {
	a := &answer{Verdict: verdicts[status], step: step}
	if code != "" {
		a.Code = &code
	}
	return a
}

// status returns the exit status that agrees with the verdict, or -1.
func (a *answer) status() int {
	for status, v := range verdicts {
		if v == a.Verdict {
			return status
		}
	}
	return -1
}

// String returns the verdict and the code.
func (a *answer) String() string {
	if a.Code == nil {
		return a.Verdict
	}
	return a.Verdict + " (" + *a.Code + ")"
}

func newAnswer(e *cli.Env, line Line) *cobra.Command {
	return &cobra.Command{
		Use:   "answer FILE…",
		Short: "answer a case as a verifier",
		Long: `Verify a case, or a receipt with the keys in $` + jwksVariable + `.
Several files get a line each.

Exit codes: 0 valid, 1 invalid, 2 undecidable, 4 no answer.`,
		Example: `  receipt conformance answer fixtures/corpus/cases/v221aee9911ae9911.json
  receipt conformance answer fixtures/corpus/cases/v2e7d5a6139834193.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return answerAll(cmd.Context(), e, line, args)
			}
			a, err := judge(cmd.Context(), e, line, args[0])
			if err != nil {
				return &cli.Failure{Code: noAnswer, Err: err}
			}
			if err := e.WriteJSON(a); err != nil {
				return err
			}
			return cli.ExitWith(a.status())
		},
	}
}

// answerAll writes a line for each file. The line is empty if there is no answer.
func answerAll(ctx context.Context, e *cli.Env, line Line, paths []string) error {
	for _, path := range paths {
		a, err := judge(ctx, e, line, path)
		if err == nil {
			err = e.WriteJSON(a)
		} else {
			_, err = fmt.Fprintln(e.Out)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// judge verifies a file with a receipt command line, and returns the answer.
func judge(ctx context.Context, e *cli.Env, line Line, path string) (*answer, error) {
	c, err := readCase(path)
	if err != nil {
		return nil, err
	}

	// A file that is not a case is a third-party receipt, and the keys for it are in a variable.
	if c == nil {
		if e.Getenv(contextVariable) != "" {
			return nil, fmt.Errorf("%s is set: chains of third-party receipts are not checked here", contextVariable)
		}

		args := []string{"verify", "--format", "json", "--progress", "never", "--keys", e.Getenv(jwksVariable), "--", path}
		a, err := ask(ctx, e, line, args, path)
		if err == nil && a.Code != nil {
			a.Code = &[]string{fieldCode(*a.Code, a.step)}[0]
		}
		return a, err
	}

	args, paths, err := c.line()
	if err != nil {
		return nil, err
	}
	if c.Task == "check_bundle" {
		return askBundle(ctx, e, line, args)
	}

	// An input without a document is malformed, but the command reports that it is unreadable.
	subject := ""
	if len(paths) == 1 {
		subject = paths[0]
	}
	return ask(ctx, e, line, args, subject)
}

// fieldCode returns the name that third-party corpora use for a code if it differs from the name in
// this project.
func fieldCode(code, step string) string {
	switch receipt.Code(code) {
	case receipt.CodeKeyExpired, receipt.CodeKeyNotYetValid:
		return "key_outside_validity_window"
	case receipt.CodeSchemaInvalid:
		if step == "schema /payload/signature" {
			return "signature_in_signing_input"
		}
	}
	return code
}

// run runs a command line with an empty environment, and returns its exit code and output.
func run(ctx context.Context, e *cli.Env, line Line, args []string) (code int, out, said []byte) {
	var stdout, stderr bytes.Buffer

	// The case contains everything that is needed, so variables such as RECEIPT_KEYS must have no
	// effect.
	inner := &cli.Env{
		In: bytes.NewReader(nil), Out: &stdout, Err: &stderr,
		Getenv: func(string) string { return "" }, Now: e.Now, Drivers: e.Drivers, Messages: e.Messages,
	}
	code = line(ctx, args, inner)
	return code, stdout.Bytes(), bytes.TrimSpace(stderr.Bytes())
}

// A report contains the members that an answer needs from the report of "verify" or "replay check".
type report struct {
	receipt.Report // of replay check
	Reports        []*receipt.Report
	Summary        struct {
		Findings   []struct{ Code receipt.Code }
		NotChecked []receipt.Note `json:"not_checked"`
	}
}

// ask runs a command line that writes a report, and reads the answer from it.
func ask(ctx context.Context, e *cli.Env, line Line, args []string, subject string) (*answer, error) {
	code, out, said := run(ctx, e, line, args)
	if code == cli.ExitUsage && blank(subject) {
		return reply(1, "empty_input", "parse"), nil
	}
	var r report
	if err := json.Unmarshal(out, &r); code == cli.ExitUsage || err != nil {
		return nil, fmt.Errorf("no verdict: %s", said)
	}
	if r.Reports == nil {
		r.Reports = []*receipt.Report{&r.Report}
	}

	switch code {
	case cli.ExitVerified:
		return reply(0, "", ""), nil
	case cli.ExitUndecided:
		found, step := r.undeciding()
		return reply(2, found, step), nil
	}
	found, step := r.refuting()
	return reply(1, found, step), nil
}

// blank reports whether a file contains no document.
func blank(path string) bool {
	data, err := os.ReadFile(path)
	return err == nil && len(bytes.TrimSpace(data)) == 0
}

// refuting returns the code and the step of the first failed check, or a finding about the input.
func (r *report) refuting() (code, step string) {
	for _, rep := range r.Reports {
		if rep.Verdict != receipt.Refuted {
			continue
		}
		f := rep.Finding()
		step = f.Step.String()
		if f.Step == receipt.StepSchema && f.Pointer != "" {
			step += " " + f.Pointer // the location of the fault
		}
		return string(f.Code), step
	}

	// A finding about the entire input does not belong to any receipt.
	for _, f := range r.Summary.Findings {
		info, _ := receipt.Lookup(f.Code)
		return string(f.Code), info.Where
	}
	return "", ""
}

// undeciding returns the code and the step of the first check that lacks evidence. If the policy is
// strict, it may be a check that is otherwise only informational.
func (r *report) undeciding() (code, step string) {
	var first *receipt.Check
	for _, rep := range r.Reports {
		f := rep.Finding()
		info, _ := receipt.Lookup(f.Code)
		switch {
		case rep.Verdict != receipt.Undecided:
		case info.Outcome == receipt.OutcomeInforms, info.Outcome == receipt.OutcomeWarns: // the reason if there is no other reason
			code, step = cmp.Or(code, string(f.Code)), cmp.Or(step, f.Step.String())
		case first == nil || f.Step < first.Step:
			first = &f
		}
	}
	if first != nil {
		return string(first.Code), first.Step.String()
	}

	for _, n := range r.Summary.NotChecked {
		if n.Undecides() {
			info, _ := receipt.Lookup(n.Code)
			return string(n.Code), info.Where
		}
	}
	return code, step
}

// askBundle runs "receipt bundle validate", and reads the answer from its result.
func askBundle(ctx context.Context, e *cli.Env, line Line, args []string) (*answer, error) {
	code, out, said := run(ctx, e, line, args)
	var result struct{ Kind string }
	switch err := json.Unmarshal(out, &result); {
	case code == cli.ExitVerified:
		return reply(0, "", ""), nil
	case code == cli.ExitRefuted && err == nil:
		return reply(1, result.Kind, "bundle"), nil
	}
	return nil, fmt.Errorf("no verdict: %s", said)
}
