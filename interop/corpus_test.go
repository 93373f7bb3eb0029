package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const corpusPath = "../fixtures/corpus"

// A corpusCase is a vector of the manifest of the corpus.
type corpusCase struct {
	File     string `json:"file"`
	Subject  string `json:"subject"`
	About    string `json:"conditions"`
	Expected struct {
		Outcome string `json:"outcome"`
		Code    string `json:"code"`
	} `json:"expected"`
}

func corpus(t *testing.T) []corpusCase {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(corpusPath, "MANIFEST.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Vectors []corpusCase `json:"vectors"`
	}
	if err := json.Unmarshal(data, &manifest); err != nil {
		t.Fatal(err)
	}
	if len(manifest.Vectors) < 400 {
		t.Fatalf("the corpus has %d cases, expected at least 400", len(manifest.Vectors))
	}
	return manifest.Vectors
}

// unsupported are the subjects for which JavaScript has no answer.
var unsupported = []string{"bundle", "replay"}

// TestCorpus verifies that both verifiers reach the expected outcome of every case that they support.
// JavaScript supports all cases of its subjects. Codes are compared, too, because each case has one
// fault.
func TestCorpus(t *testing.T) {
	need(t)
	cases := corpus(t)
	for _, test := range []struct {
		name    string
		command []string
		least   map[string]int // answered cases
	}{
		{"JavaScript", append(javascriptCases, "--cases"), everySupported(cases)},
		{"Python", append(pythonCases, "--cases"), map[string]int{"receipt": 420, "stream": 55}},
	} {
		t.Run(test.name, func(t *testing.T) {
			answered := map[string]int{}
			for i, line := range answers(t, test.command, cases) {
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

// everySupported returns the number of cases of each subject that JavaScript supports.
func everySupported(cases []corpusCase) map[string]int {
	counts := map[string]int{}
	for _, c := range cases {
		if !slices.Contains(unsupported, c.Subject) {
			counts[c.Subject]++
		}
	}
	return counts
}

// An answer is the line of the contract.
type answer struct {
	Verdict string `json:"verdict"`
	Code    string `json:"code"`
}

// words are the verdicts of the contract.
var words = map[string]string{"verified": "valid", "refuted": "invalid", "undecided": "undecidable"}

// answers returns the line of a verifier for each case, in one process.
func answers(t *testing.T, command []string, cases []corpusCase) []string {
	t.Helper()
	var paths strings.Builder
	for _, c := range cases {
		paths.WriteString(filepath.Join(corpusPath, c.File) + "\n")
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stderr = strings.NewReader(paths.String()), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(cases) {
		t.Fatalf("%s: %d answers to %d cases", cmd, len(lines), len(cases))
	}
	return lines
}
