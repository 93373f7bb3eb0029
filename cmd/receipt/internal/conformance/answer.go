package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt"
)

// The verdicts of the contract. Their indexes are the exit statuses.
var verdicts = [...]string{"valid", "invalid", "undecidable"}

// noAnswer is an exit status that states nothing.
const noAnswer = 4

// jwksVariable names the environment variable with the key set for receipts of other makers.
const jwksVariable = "AEV_RECEIPT_JWKS"

// An answer is the last line of a verifier.
type answer struct {
	Verdict string  `json:"verdict"`
	Code    *string `json:"code"`
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
		Use:   "answer FILE",
		Short: "verify one case, and answer as a verifier",
		Long: `Verify a case, or a receipt with the keys in $` + jwksVariable + `.

Exit codes: 0 valid, 1 invalid, 2 undecidable, 4 no answer.`,
		Example: `  receipt conformance answer case.json`,
		Args:    cli.ExactArgs(1, "one case"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, _, err := judge(cmd.Context(), e, line, args[0])
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

// judge verifies a file with a command line of receipt. It returns the answer, and the step on
// which the answer rests.
func judge(ctx context.Context, e *cli.Env, line Line, path string) (*answer, string, error) {
	c, err := readCase(path)
	if err != nil {
		return nil, "", err
	}

	// A file that is not a case is a receipt of the field, whose keys are in a variable.
	if c == nil {
		args := []string{"verify", "--format", "json", "--progress", "never", "--keys", e.Getenv(jwksVariable), "--", path}
		a, step, err := ask(ctx, e, line, args, path)
		if err == nil && a.Code != nil {
			a.Code = &[]string{fieldCode(*a.Code, step)}[0]
		}
		return a, step, err
	}

	args, err := c.line()
	if err != nil {
		return nil, "", err
	}
	if c.Task == "check_bundle" {
		return askBundle(ctx, e, line, args)
	}

	// An input without a document is malformed, which the command reports as unreadable.
	subject := ""
	if list := c.files("receipts"); len(list) == 1 {
		subject = list[0]
	}
	return ask(ctx, e, line, args, subject)
}

// fieldCode returns the name that the corpora of the field use for a code, if it differs.
func fieldCode(code, step string) string {
	switch code {
	case string(receipt.CodeKeyExpired), string(receipt.CodeKeyNotYetValid):
		return "key_outside_validity_window"
	case string(receipt.CodeSchemaInvalid):
		if step == "schema /payload/signature" {
			return "signature_in_signing_input"
		}
	}
	return code
}

// run runs a command line with an empty environment, and returns its exit code and output.
func run(ctx context.Context, e *cli.Env, line Line, args []string) (code int, out, said []byte) {
	var stdout, stderr bytes.Buffer

	// The case has everything, so variables such as RECEIPT_KEYS must not add anything.
	inner := &cli.Env{
		In: bytes.NewReader(nil), Out: &stdout, Err: &stderr,
		Getenv: func(string) string { return "" }, Now: e.Now, Drivers: e.Drivers, Messages: e.Messages,
	}
	code = line(ctx, args, inner)
	return code, stdout.Bytes(), bytes.TrimSpace(stderr.Bytes())
}

// A report is the part of the reports of verify and replay check that an answer needs.
type report struct {
	Verdict receipt.Verdict
	Checks  []struct{ Check, Status, Code, Pointer string }
	Reports []report
	Summary struct {
		Findings   []struct{ Code string }
		NotChecked []receipt.Note `json:"not_checked"`
	}
}

// ask runs a command line that writes a report, and reads the answer from it.
func ask(ctx context.Context, e *cli.Env, line Line, args []string, subject string) (*answer, string, error) {
	code, out, said := run(ctx, e, line, args)
	var r report
	err := json.Unmarshal(out, &r)
	switch {
	case code == cli.ExitUsage && blank(subject):
		return reply(1, "empty_input"), "parse", nil
	case code == cli.ExitUsage || err != nil:
		return nil, "", fmt.Errorf("no verdict: %s", said)
	case code == cli.ExitVerified:
		return reply(0, ""), "", nil
	}

	if r.Reports == nil {
		r.Reports = []report{r} // of replay check
	}

	found, step := r.refuting()
	status := 1
	if code == cli.ExitUndecided {
		found, step = r.undeciding()
		status = 2
	}
	return reply(status, found), step, nil
}

// blank reports whether a file contains no document.
func blank(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()

	data, err := io.ReadAll(io.LimitReader(f, 1<<10))
	return err == nil && len(bytes.TrimSpace(data)) == 0
}

// reply returns an answer.
func reply(status int, code string) *answer {
	a := &answer{Verdict: verdicts[status]}
	if code != "" {
		a.Code = &code
	}
	return a
}

// refuting returns the code and the step of the first failed check, or a finding about the input.
func (r *report) refuting() (code, step string) {
	for _, rep := range r.Reports {
		for _, c := range rep.Checks {
			if rep.Verdict == receipt.Refuted && c.Status == "failed" {
				return c.Code, stepOf(c.Check, c.Pointer)
			}
		}
	}

	// A finding about the input as a whole belongs to no receipt.
	for _, f := range r.Summary.Findings {
		info, _ := receipt.Lookup(receipt.Code(f.Code))
		return f.Code, info.Where
	}
	return "", ""
}

// stepOf adds the place of a fault to the step schema.
func stepOf(step, pointer string) string {
	if step == "schema" && pointer != "" {
		return step + " " + pointer
	}
	return step
}

// undeciding returns the code and the step of the first check whose evidence is missing. Under a
// strict policy, it may be a check that otherwise only informs.
func (r *report) undeciding() (code, step string) {
	for _, rep := range r.Reports {
		for _, c := range rep.Checks {
			if rep.Verdict != receipt.Undecided || c.Status != "not_checked" {
				continue
			}
			if info, _ := receipt.Lookup(receipt.Code(c.Code)); info.Outcome != receipt.OutcomeInforms {
				return c.Code, c.Check
			}

			// The first check that only informs is the reason if there is no other one.
			if code == "" {
				code, step = c.Code, c.Check
			}
		}
	}

	for _, n := range r.Summary.NotChecked {
		if n.Undecides() {
			info, _ := receipt.Lookup(n.Code)
			return string(n.Code), info.Where
		}
	}
	return code, step
}

// askBundle runs receipt bundle validate, and reads the answer from its result.
func askBundle(ctx context.Context, e *cli.Env, line Line, args []string) (*answer, string, error) {
	code, out, said := run(ctx, e, line, args)

	var result struct{ Kind string }
	switch err := json.Unmarshal(out, &result); {
	case code == cli.ExitVerified:
		return reply(0, ""), "", nil
	case code == cli.ExitRefuted && err == nil:
		return reply(1, result.Kind), "bundle", nil
	}
	return nil, "", fmt.Errorf("no verdict: %s", said)
}
