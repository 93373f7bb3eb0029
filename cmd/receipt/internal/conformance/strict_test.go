package conformance_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/conformance"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/root"
	"github.com/receiptkit/receiptkit/receipt"
)

// An omitted is the part of a JSON report that describes what was not checked.
type omitted struct {
	Reports []receipt.Report
	Summary struct {
		NotChecked []receipt.Note `json:"not_checked"`
	}
}

// codes returns the codes of everything that was not checked.
func (o *omitted) codes() (list []receipt.Code) {
	notes := slices.Clone(o.Summary.NotChecked)
	for _, rep := range o.Reports {
		notes = append(notes, rep.NotChecked...)
	}
	for _, n := range notes {
		list = append(list, n.Code)
	}
	return list
}

// TestStrictPromise verifies that, with --strict, a verified input becomes undecided if and only if
// a step was not checked whose code promises this in "receipt explain". Each promise must be kept
// at least once, and each code without a promise must occur at least once without an effect.
func TestStrictPromise(t *testing.T) {
	promised, idle := map[receipt.Code]bool{}, map[receipt.Code]bool{}
	for _, info := range receipt.Codes() {
		_, text := execute(t, "explain", string(info.Code))
		switch promise := bytes.Contains(text, []byte("--strict")); {
		case promise:
			promised[info.Code] = true
		case info.Where == "not checked" && info.Outcome == receipt.OutcomeWarns:
			idle[info.Code] = true
		}
	}

	// A verified result of the command verify does not contain these codes.
	for _, c := range []receipt.Code{receipt.CodeStepNotReached, receipt.CodeReplayNotChecked, receipt.CodeIDsNotChecked, receipt.CodeAskedNotRecorded, receipt.CodeValidityNotChecked} {
		delete(idle, c)
	}

	kept := map[receipt.Code]bool{}
	for _, args := range strictCommands(t) {
		code, out := execute(t, args...)
		if code != cli.ExitVerified {
			continue
		}
		plain := omittedIn(t, out)
		code, out = execute(t, append([]string{"verify", "--strict"}, args[1:]...)...)
		strict := omittedIn(t, out)

		want := cli.ExitVerified
		for i, rep := range strict.Reports {
			if judgeStrict(t, args, promised, kept, &plain.Reports[i], &rep) {
				want = cli.ExitUndecided
			}
		}
		if code != want {
			t.Errorf("%q: exit %d with --strict, expected %d", args, code, want)
		}

		if want == cli.ExitVerified {
			for _, c := range plain.codes() {
				delete(idle, c)
			}
		}
	}

	for c := range promised {
		if !kept[c] {
			t.Errorf("%s promises an effect of --strict, and has none", c)
		}
	}
	for c := range idle {
		t.Errorf("no case has %s and is verified with --strict", c)
	}
}

// judgeStrict compares the reports on a receipt without and with --strict. It reports whether the
// promises require that the receipt is undecided, and adds the code of that finding to kept.
func judgeStrict(t *testing.T, args []string, promised, kept map[receipt.Code]bool, plain, strict *receipt.Report) (open bool) {
	t.Helper()
	for _, c := range plain.Checks {
		if c.Status != receipt.StatusNotChecked || !promised[c.Code] {
			continue
		}

		// Only a receipt that states no predecessor has no link to check.
		if c.Step == receipt.StepLink && strict.Check(c.Step).Status == receipt.StatusNotApplicable {
			if !slices.ContainsFunc(strict.NotChecked, func(n receipt.Note) bool { return n.Code == c.Code }) {
				t.Errorf("%q: %s is no longer listed with --strict", args, c.Code)
			}
			continue
		}
		if open = true; strict.Check(c.Step).Status != receipt.StatusNotChecked {
			t.Errorf("%q: the step %v, which was not checked, is %v with --strict", args, c.Step, strict.Check(c.Step).Status)
		}
	}

	found := strict.Finding().Code
	if (strict.Verdict == receipt.Undecided) != open || open && !promised[found] {
		t.Errorf("%q: %v, %s with --strict", args, strict.Verdict, found)
	}
	kept[found] = true
	return open
}

// strictCommands returns the commands that verify the cases in the corpus, and inputs of kinds that
// the corpus lacks.
func strictCommands(t *testing.T) (list [][]string) {
	t.Helper()
	for _, v := range readManifest(t).Vectors {
		args, err := conformance.Command(filepath.Join(corpus, v.File))
		if err != nil {
			t.Fatal(err)
		}
		if v.Expected.Outcome != "verified" || args[0] != "verify" || slices.Contains(args, "--strict") {
			continue
		}
		list = append(list, args)
		if at := slices.Index(args, "--proof") + 1; at > 0 {
			args = slices.Clone(args)
			args[at] = cosigned(t, args[at])
			list = append(list, args)
		}
	}
	if len(list) < 300 {
		t.Fatalf("%d verified cases, expected at least 300", len(list))
	}

	const fixtures = "../../../../fixtures"
	signed, err := os.ReadFile(filepath.Join(fixtures, "valid", "signed-es256.json"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	envelope, statement := filepath.Join(dir, "envelope.json"), filepath.Join(dir, "statement.cose")
	if err := os.WriteFile(envelope, slices.Concat([]byte(`{"wire":{"payload":`), signed, []byte("}}")), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _ := execute(t, "export", filepath.Join(fixtures, "valid", "task.json"), "--scitt", "--key", filepath.Join(fixtures, "keys", "key_2026_04.private.json"), "-o", statement); code != cli.ExitVerified {
		t.Fatalf("export: exit %d", code)
	}
	for _, path := range []string{envelope, statement} {
		list = append(list, []string{"verify", "--format", "json", "--keys", filepath.Join(fixtures, "keys", "trust.json"), path})
	}
	return append(list, []string{"verify", "--format", "json", "--integrity-only", envelope})
}

// cosigned writes a copy of a proof with the signature of an unknown witness, and returns its path.
func cosigned(t *testing.T, proof string) string {
	t.Helper()
	text, err := os.ReadFile(proof)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "proof")
	line := "\u2014 stranger.example " + base64.StdEncoding.EncodeToString(make([]byte, 4+ed25519.SignatureSize)) + "\n"
	if err := os.WriteFile(path, append(text, line...), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func omittedIn(t *testing.T, out []byte) (o omitted) {
	t.Helper()
	if err := json.Unmarshal(out, &o); err != nil || len(o.Reports) == 0 {
		t.Fatalf("%v: %d reports", err, len(o.Reports))
	}
	return o
}

func execute(t *testing.T, args ...string) (code int, out []byte) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = root.Run(t.Context(), args, &cli.Env{
		In: strings.NewReader(""), Out: &stdout, Err: &stderr,
		Getenv: func(string) string { return "" },
		Now:    func() time.Time { return time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC) },
	})
	return code, stdout.Bytes()
}
