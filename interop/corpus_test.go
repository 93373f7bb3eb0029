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
	File    string `json:"file"`
	Subject string `json:"subject"`
	About   string `json:"conditions"`
	Options struct {
		Strict bool `json:"strict"`
	} `json:"options"`
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

// TestCorpus verifies that both verifiers reach the expected outcome of every case that they support,
// and that they support all cases of their subjects, except strict ones. Codes are compared, too,
// because each case has one fault.
func TestCorpus(t *testing.T) {
	need(t)
	cases := corpus(t)
	for _, test := range []struct {
		name        string
		command     []string
		unsupported []string // subjects of which not every case is supported
	}{
		{"JavaScript", []string{"node", "--no-warnings", "js/main.mjs", "--cases"}, []string{"attestation", "bundle", "replay"}},
		{"Python", []string{"env", "PYTHONPATH=python", "python3", "-m", "receipt_verifier", "--cases"},
			[]string{"archive", "attestation", "batch", "bundle", "checkpoint", "disclosure", "proof", "receipt", "replay"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			supported := map[string]int{}
			for i, line := range answers(t, test.command, cases) {
				c := cases[i]
				if line == "" {
					if !slices.Contains(test.unsupported, c.Subject) && !c.Options.Strict {
						t.Errorf("%s (%s): no answer", c.File, c.About)
					}
					continue
				}
				supported[c.Subject]++
				expected, err := json.Marshal(answer{words[c.Expected.Outcome], c.Expected.Code})
				if err != nil {
					t.Fatal(err)
				}
				if got := strings.ReplaceAll(line, `"code":null`, `"code":""`); got != string(expected) {
					t.Errorf("%s (%s): %s, expected %s", c.File, c.About, got, expected)
				}
			}
			if supported["receipt"] < 380 || supported["stream"] < 50 {
				t.Errorf("supported: %v", supported)
			}
			t.Logf("supported: %v", supported)
		})
	}
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
