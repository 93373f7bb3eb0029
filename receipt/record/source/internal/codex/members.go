package codex

import (
	"cmp"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// blocks counts what the content of a message has besides texts and images.
func blocks(s *story.Story, of string, content canon.Node) {
	switch content.Kind() {
	case canon.KindArray:
	case canon.KindString:
		return
	default:
		if !event.Absent(content) {
			s.Ignored(of + "/None")
		}
		return
	}
	for _, n := range content.Elements() {
		switch kind := s.Name(n.Member("type")); kind {
		case "input_text", "output_text", "text", "Text", "summary_text", "reasoning_text", "input_image", "output_image", "input_file", "input_audio", "refusal", "encrypted_content":
		default:
			s.Ignored(of + "/" + cmp.Or(kind, "None"))
		}
	}
}

// either is the member of a name in snake case, or the same in camelCase, as the app server
// writes it.
func either(n canon.Node, name string) canon.Node {
	if v := n.Member(name); !event.Absent(v) {
		return v
	}
	var camel strings.Builder
	for i, word := range strings.Split(name, "_") {
		if i > 0 && word != "" {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		camel.WriteString(word)
	}
	if v := n.Member(camel.String()); !v.IsZero() {
		return v
	}
	return n.Member(name)
}
