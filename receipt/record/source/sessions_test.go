package source_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// TestOtherAgents verifies that the error for a log of an unsupported agent names the agent, and
// that nothing is recorded.
func TestOtherAgents(t *testing.T) {
	n := 0
	err := filepath.WalkDir(vectors.Dir(t, "sources-2"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".expected.json") {
			return err
		}
		var f struct {
			Source string
			Agent  any
			File   struct{ Name string }
		}
		readJSON(t, name, &f)
		if f.Source != "other" {
			return nil
		}
		want, _ := f.Agent.(string)
		want = strings.TrimPrefix(want, "Factory ")
		n++
		text, err := os.ReadFile(filepath.Join(filepath.Dir(name), f.File.Name))
		if err != nil {
			return err
		}
		for _, from := range []string{"", "claude"} {
			o := options()
			o.From = from
			_, err = source.Read([]source.Input{{Name: f.File.Name, Reader: bytes.NewReader(text)}}, o)
			var session *source.SessionError
			if !errors.As(err, &session) || !errors.Is(err, source.ErrUnknown) || !strings.Contains(session.What, want) || session.Next == "" {
				t.Errorf("%s: %v, want the name %q", name, err, want)
			}
		}
		if k := source.Sight(text[:min(len(text), 1<<20)]).Kind; k != source.Unknown {
			t.Errorf("%s is recognized as %s", name, k)
		}
		return nil
	})
	if err != nil || n < 11 {
		t.Errorf("%d logs: %v", n, err)
	}
}

// TestClaudeLines verifies that a line belongs to a transcript only if its type is known and its
// message, if any, has the role of a user or an assistant.
func TestClaudeLines(t *testing.T) {
	for line, is := range map[string]bool{
		`{"type":"user","sessionId":"s","message":{"role":"user","content":"x"}}`:         true,
		`{"type":"mode","sessionId":"s"}`:                                                 true,
		`{"type":"user","sessionId":"s","message":{"role":"model","content":"x"}}`:        false,
		`{"type":"user","sessionId":"s","message":{"role":"user","parts":[]}}`:            false,
		`{"type":"user","sessionId":"s","message":{"role":"user"}}`:                       false,
		`{"type":"tool_result","sessionId":"s"}`:                                          false,
		`{"type":"turn","sessionId":"s","message":{"role":"assistant","content":"rm"}}`:   false,
		`{"type":"system","sessionId":"s","provenance":"system","systemPayload":{"a":1}}`: false,
	} {
		if got := source.Sight([]byte(line)).Kind == source.ClaudeTranscript; got != is {
			t.Errorf("%s: a transcript of Claude Code: %v", line, got)
		}
	}
}
