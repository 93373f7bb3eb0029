package source_test

import (
	"testing"

	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// fuzz reads logs from one source, and compares every draft with the findings of another parser.
func fuzz(f *testing.F, kinds ...source.Kind) {
	for _, log := range samples(f) {
		for _, kind := range kinds {
			if len(log) < 40_000 && source.Sight(log).Kind == kind {
				f.Add(log)
			}
		}
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		if d := tryRead(t, log); d != nil {
			claimsNothing(t, log, d)
		}
	})
}

func FuzzClaudeTranscript(f *testing.F) { fuzz(f, source.ClaudeTranscript) }
func FuzzClaudeStream(f *testing.F)     { fuzz(f, claudeStream) }
func FuzzCodexRollout(f *testing.F)     { fuzz(f, source.CodexRollout) }
func FuzzCodexExec(f *testing.F)        { fuzz(f, codexExec) }
func FuzzOTLP(f *testing.F)             { fuzz(f, otlpJSON) }
func FuzzCopilot(f *testing.F)          { fuzz(f, "copilot-cli") }
func FuzzOpenCode(f *testing.F)         { fuzz(f, "opencode") }
func FuzzGemini(f *testing.F)           { fuzz(f, "gemini-cli") }
func FuzzATIF(f *testing.F)             { fuzz(f, "atif") }
func FuzzPi(f *testing.F)               { fuzz(f, "pi") }
