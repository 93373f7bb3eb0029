package claude

import "github.com/receiptkit/receiptkit/receipt/record/source/internal/story"

// settle judges calls of MCP tools whose results read like a person's refusal. If the log
// states which calls ran, one that did not was refused, and one that did returned words of its
// server. If the log states it of no call, or lines were not read, nobody can say.
func settle(s *story.Story, started map[string]bool) {
	for c := range s.Asked() {
		switch {
		case !c.Doubtful || started == nil || c.Ended() != story.Unreported:
		case started[c.ID]:
			c.Settle(story.Failed)
		case s.ReadAll("progress"):
			c.Settle(story.Rejected)
		}
	}
}
