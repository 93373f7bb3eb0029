package source

import (
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/claude"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/codex"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/otlp"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// A Kind is what writes a log, and in which of its forms.
type Kind string

const (
	Unknown          Kind = ""
	ClaudeTranscript Kind = "claude-transcript"
	ClaudeStream     Kind = "claude-stream-json"
	ClaudeAction     Kind = "claude-code-action"
	CodexRollout     Kind = "codex-rollout"
	CodexExec        Kind = "codex-exec-json"
	OTLP             Kind = "otlp-json"
)

// A Row says how logs of a kind are known and read.
type Row struct {
	Kind   Kind
	What   string // with its article
	Family string // the program that writes it, or the format

	is  func(canon.Node) bool // whether a line, an object, is one of it
	new func(*story.Story) story.Reader

	// looks is of a kind that may be values wherever lines end: whether a text begins as one.
	// nil: an object a line.
	looks  func([]byte) bool
	arrays bool // a line may be an array of such objects

	// glances is of a kind whose sessions have several tasks: it returns a function that
	// looks at the lines of a log, one after the other. nil: a log is one task.
	glances func() func(canon.Node) story.Glance
}

// Kinds returns the sources that are read.
func Kinds() []Row {
	return []Row{
		{ClaudeTranscript, "a transcript of Claude Code", "claude", claude.IsTranscript, func(s *story.Story) story.Reader { return claude.NewTranscript(s) }, nil, false, claude.Glances},
		{ClaudeStream, "a stream of Claude Code", "claude", claude.IsStream, func(s *story.Story) story.Reader { return claude.NewStream(s) }, nil, false, nil},
		{ClaudeAction, "an execution file of claude-code-action", "claude", claude.IsStream, func(s *story.Story) story.Reader { return claude.NewStream(s) }, claude.LooksLikeArray, true, nil},
		{CodexRollout, "a rollout of Codex", "codex", codex.IsRollout, func(s *story.Story) story.Reader { return codex.NewRollout(s) }, codex.Looks, false, codex.Glances},
		{CodexExec, "a stream of Codex", "codex", codex.IsExec, func(s *story.Story) story.Reader { return codex.NewExec(s) }, nil, false, nil},
		{OTLP, "telemetry (OTLP)", "otlp", otlp.Is, func(s *story.Story) story.Reader { return otlp.New(s) }, otlp.Looks, true, nil},
	}
}

// Named reports whether a name is that of a kind or of a family, and the kind, when it is
// only one.
func Named(name string) (k Kind, known bool) {
	for _, row := range Kinds() {
		if string(row.Kind) == name {
			return row.Kind, true
		}
		known = known || row.Family == name
	}
	return Unknown, known
}

// Names returns the names of all kinds and families.
func Names() (names []string) {
	for _, row := range Kinds() {
		if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+row.Family+" ") {
			names = append(names, row.Family)
		}
	}
	for _, row := range Kinds() {
		names = append(names, string(row.Kind))
	}
	return names
}

func rowOf(k Kind) (Row, bool) {
	for _, row := range Kinds() {
		if row.Kind == k {
			return row, true
		}
	}
	return Row{}, false
}
