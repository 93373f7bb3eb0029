package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

func corpus(t *testing.T) []corpusCase {
	t.Helper()
	cases, err := loadCorpus()
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// TestCorpus verifies that both verifiers reach the expected outcome for every case that they
// support. The JavaScript verifier supports all cases. Codes are also compared, because each case
// has only one fault.
func TestCorpus(t *testing.T) {
	need(t)
	cases := corpus(t)
	for _, test := range []struct {
		name    string
		command []string
		least   map[string]int // answered cases
	}{
		{"JavaScript", append(javascriptCases, "--cases"), everyCase(cases)},
		{"Python", append(pythonCases, "--cases"), map[string]int{"receipt": 420, "stream": 55}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var paths []string
			for _, c := range cases {
				paths = append(paths, filepath.Join(corpusPath, c.File))
			}
			lines, err := ask(test.command, paths)
			if err != nil {
				t.Fatal(err)
			}

			answered := map[string]int{}
			for i, line := range lines {
				if line == "" {
					continue
				}
				c := cases[i]
				answered[c.Subject]++
				expected, err := json.Marshal(answer{words[c.Expected.Outcome], c.Expected.Code})
				if err != nil {
					t.Fatal(err)
				}
				if got := strings.ReplaceAll(line, `"code":null`, `"code":""`); got != string(expected) {
					t.Errorf("%s (%s): %s, expected %s", c.File, c.About, got, expected)
				}
			}
			for subject, least := range test.least {
				if answered[subject] < least {
					t.Errorf("%s: %d answers, expected at least %d", subject, answered[subject], least)
				}
			}
			t.Logf("answered: %v", answered)
		})
	}
}

// everyCase returns the number of cases for each subject.
func everyCase(cases []corpusCase) map[string]int {
	counts := map[string]int{}
	for _, c := range cases {
		counts[c.Subject]++
	}
	return counts
}

// words maps this toolkit's verdicts to the verdicts of the conformance contract.
var words = map[string]string{"verified": "valid", "refuted": "invalid", "undecided": "undecidable"}
