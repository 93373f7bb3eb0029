package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// A scoreboard is the report of a run. Cases that were not answered are counted separately, and
// never as passed.
type scoreboard struct {
	Rail         string   `json:"rail"`
	Suite        string   `json:"suite"`
	CorpusDigest string   `json:"corpusDigest"`
	Verifier     verifier `json:"verifier"`
	Totals       totals   `json:"totals"`
}

type verifier struct {
	Command         []string `json:"command"`
	VectorsExecuted int      `json:"vectorsExecuted"`
}

type totals struct {
	Vectors      int         `json:"vectors"`
	Conform      int         `json:"conform"`
	Failed       []deviation `json:"failed"`
	NotExercised []deviation `json:"notExercised"`

	// The verdict is the expected verdict, but the code differs.
	ReasonParityMismatch []deviation `json:"reasonParityMismatch"`
}

// A deviation is a case with an unexpected answer.
type deviation struct {
	ID         string `json:"id"`
	Subject    string `json:"subject"`
	Conditions string `json:"conditions"`
	Expected   answer `json:"expected"`
	Found      string `json:"found"`
}

// score compares the results of a run with the corpus.
func score(c *corpus, command []string, results []result) *scoreboard {
	s := &scoreboard{Rail: "external", Suite: c.suite, CorpusDigest: c.digest, Verifier: verifier{Command: command}}
	t := &s.Totals
	t.Vectors = len(results)

	// Empty lists are written as [], not as null.
	t.Failed, t.NotExercised, t.ReasonParityMismatch = []deviation{}, []deviation{}, []deviation{}

	for _, r := range results {
		d := deviation{r.id, r.subject, r.about, r.want, ""}
		var declined *silence
		if errors.As(r.err, &declined) {
			d.Found = declined.why
			t.NotExercised = append(t.NotExercised, d)
			continue
		}

		// Everything else counts as an answer, including a violation of the contract.
		s.Verifier.VectorsExecuted++
		switch {
		case r.err != nil:
			d.Found = r.err.Error()
			t.Failed = append(t.Failed, d)
		case !r.accepts(r.answer):
			d.Found = r.answer.String()
			t.Failed = append(t.Failed, d)
		default:
			t.Conform++

			// A different code with the same verdict is reported, but is not a failure.
			if r.Verdict == r.want.Verdict && r.answer.String() != r.want.String() {
				d.Found = r.answer.String()
				t.ReasonParityMismatch = append(t.ReasonParityMismatch, d)
			}
		}
	}
	return s
}

// exit returns the exit code of the run. A run without any answers shows nothing, so it is not
// successful.
func (s *scoreboard) exit() int {
	switch t := &s.Totals; {
	case s.Verifier.VectorsExecuted == 0:
		return cli.ExitUsage
	case len(t.Failed) > 0:
		return cli.ExitRefuted
	case t.Conform < t.Vectors:
		return cli.ExitUndecided
	}
	return cli.ExitVerified
}

// silent returns the number of cases without an answer for each subject and reason. The JSON report
// lists the cases.
func (t *totals) silent() (list []string) {
	counts := map[string]int{}
	for _, d := range t.NotExercised {
		counts[d.Subject+": "+d.Found]++
	}
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, fmt.Sprintf("%d of %s", counts[reason], reason))
	}
	return list
}

// print writes the report.
func (s *scoreboard) print(e *cli.Env, format string) error {
	if format == "json" {
		return e.WriteJSON(s)
	}

	t := &s.Totals
	var b bytes.Buffer
	fmt.Fprintf(&b, "corpus  %s, %s\n", s.Suite, s.CorpusDigest)
	fmt.Fprintf(&b, "cases   %d of %d answered, %d as expected, %d not; %d not exercised\n", s.Verifier.VectorsExecuted, t.Vectors, t.Conform, len(t.Failed), len(t.NotExercised))
	fmt.Fprintf(&b, "codes   %d of the expected answers have another code\n", len(t.ReasonParityMismatch))

	for _, subject := range t.silent() {
		fmt.Fprintf(&b, "not exercised: %s\n", subject)
	}
	for _, group := range []struct {
		name string
		list []deviation
	}{{"failed", t.Failed}, {"other code", t.ReasonParityMismatch}} {
		for _, d := range group.list {
			fmt.Fprintf(&b, "%s: %s %s: %s; expected %s, found %s\n", group.name, d.ID, d.Subject, d.Conditions, d.Expected.String(), d.Found)
		}
	}

	if s.Verifier.VectorsExecuted == 0 {
		b.WriteString("no case was answered, so the run shows nothing\n")
	}

	// Conditions and answers are untrusted text.
	_, err := e.Text().Write([]byte(cli.EscapeText(b.String())))
	return err
}
