package source

import (
	"bytes"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	kinds "github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/claude"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/codex"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/others"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/otlp"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// A Kind identifies the program that writes a log, and the format of the log.
type Kind string

const (
	Unknown          Kind = ""
	ClaudeTranscript Kind = "claude-transcript"
	CodexRollout     Kind = "codex-rollout"

	claudeStream Kind = "claude-stream-json"
	claudeAction Kind = "claude-code-action"
	codexExec    Kind = "codex-exec-json"
	otlpJSON     Kind = "otlp-json"
	copilotCLI   Kind = "copilot-cli"
	openCode     Kind = "opencode"
	geminiCLI    Kind = "gemini-cli"
	atifKind     Kind = "atif"
	piKind       Kind = "pi"
)

// A row describes how to recognize and read logs of a kind.
type row struct {
	kind   Kind
	family string // the program that writes the log, or the log's format

	// The function "is" reports whether a line, which is an object, belongs to the kind. If the
	// function is nil, package kind recognizes the line.
	is  func(canon.Node) bool
	new func(*story.Story) story.Reader

	// looks reports whether a log of this kind may begin with the given text, which has no leading
	// whitespace. It is set if the values in the log may span lines. If looks is nil, each line is
	// an object.
	looks  func(string) bool
	arrays bool // a line may be an array of such objects

	// glances returns a function that examines the lines of a log in order, for kinds whose
	// sessions can have several tasks. If glances is nil, a log is a single task.
	glances func() func(canon.Node) story.Glance
}

// rows is the table of the supported sources.
func rows() []row {
	return []row{
		{ClaudeTranscript, "claude", claude.IsTranscript, claude.NewTranscript, nil, false, claude.Glances},
		{claudeStream, "claude", claude.IsStream, claude.NewStream, nil, false, nil},
		{claudeAction, "claude", claude.IsStream, claude.NewStream, claude.LooksLikeArray, true, nil},
		{CodexRollout, "codex", codex.IsRollout, codex.NewRollout, codex.Looks, false, codex.Glances},
		{codexExec, "codex", codex.IsExec, codex.NewExec, nil, false, nil},
		{otlpJSON, "otlp", otlp.Is, otlp.New, otlp.Looks, true, nil},

		// Package kind recognizes the following kinds.
		{kind: copilotCLI, family: "copilot", new: others.NewCopilot},
		{kind: openCode, family: "opencode", new: others.NewOpenCode},
		{kind: geminiCLI, family: "gemini", new: others.NewGemini},
		{kind: atifKind, family: "atif", new: others.NewATIF},
		{kind: piKind, family: "pi", new: others.NewPi},
	}
}

func rowOf(k Kind) (row, bool) {
	for _, r := range rows() {
		if r.kind == k {
			return r, true
		}
	}
	return row{}, false
}

// named reports whether name is the name of the kind or of its family. The name "" matches every
// kind.
func (r *row) named(name string) bool {
	return name == "" || name == string(r.kind) || name == r.family
}

// Names returns the names of all families and kinds.
func Names() (names []string) {
	for _, r := range rows() {
		if !slices.Contains(names, r.family) {
			names = append(names, r.family)
		}
	}
	for _, r := range rows() {
		if !slices.Contains(names, string(r.kind)) {
			names = append(names, string(r.kind))
		}
	}
	return names
}

// IsOf reports whether name is the name of a kind or of its family.
func IsOf(k Kind, name string) bool {
	r, known := rowOf(k)
	return known && name != "" && r.named(name)
}

// A Sighting identifies a log by its first lines.
type Sighting struct {
	Kind            Kind
	Session, Parent string // from the first line that names a session, or ""
}

// Sight recognizes a log by its first bytes, and reads at most 50 lines of them.
func Sight(head []byte) (s Sighting) {
	r := &reading{doc: new(canon.Document)}
	if s.Kind = recognize(r, head); s.Kind == Unknown {
		return s
	}
	of, _ := rowOf(s.Kind)
	if of.glances == nil {
		return s
	}

	// Any of the first lines may name the session.
	look := of.glances()
	for line := range firstLines(head) {
		if r.doc.Parse(bytes.TrimSpace(line), canon.Limits{Bytes: maxLine}) != nil || r.doc.Root().Kind() != canon.KindObject {
			continue
		}
		if g := look(r.doc.Root()); g.Session != "" {
			s.Session, s.Parent = g.Session, g.Parent
			return s
		}
	}

	return s
}

// firstLines yields the lines of text from which a log is recognized.
func firstLines(text []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for n := 0; n < maxHeadLines && len(text) > 0; n++ {
			var line []byte
			if line, text, _ = bytes.Cut(text, []byte("\n")); !yield(line) {
				return
			}
		}
	}
}

// recognize returns the kind of a log based on its first bytes.
func recognize(r *reading, head []byte) Kind {
	if k, found := formOf(r.from, head); found.Kind != kinds.Unknown {
		return k
	}
	if k := looksLike(r.from, head); k != Unknown {
		return k
	}

	// A log may begin with lines from another program.
	for line := range firstLines(head) {
		if k, found := formOf(r.from, line); found.Kind != kinds.Unknown {
			return k
		}
		if _, err := r.parse(bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))); err == nil {
			if k := kindOf(r.from, r.doc.Root()); k != Unknown {
				return k
			}
		}
	}

	return Unknown
}

// formOf recognizes the log of an agent by its form, as package kind does. The kind is Unknown if
// such logs are not supported, or if the argument "from" excludes them.
func formOf(from string, value []byte) (Kind, kinds.Found) {
	found, form := kinds.SessionOf(value)
	if x, known := rowOf(Kind(form)); known && x.named(from) {
		return x.kind, found
	}
	return Unknown, found
}

// kindOf returns the kind of a line, limited to the kinds that the argument "from" permits.
func kindOf(from string, line canon.Node) Kind {
	// The first kind that matches is used, so the table lists specific kinds first.
	for _, x := range rows() {
		if x.is == nil || !x.named(from) {
			continue
		}
		if line.Kind() == canon.KindObject && x.is(line) {
			return x.kind
		}
		for _, first := range line.Elements() {
			if x.arrays && first.Kind() == canon.KindObject && x.is(first) {
				return x.kind
			}
			break
		}
	}

	return Unknown
}

// looksLike returns the kind of log that text resembles, limited to the permitted kinds whose
// values may span lines.
func looksLike(from string, head []byte) Kind {
	head = bytes.TrimPrefix(head[:min(len(head), maxLook)], []byte("\ufeff"))
	text := string(bytes.Join(bytes.Fields(head), nil))
	for _, x := range rows() {
		if x.looks != nil && x.named(from) && x.looks(text) {
			return x.kind
		}
	}
	return Unknown
}
