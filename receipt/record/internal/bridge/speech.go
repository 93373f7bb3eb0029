package bridge

import (
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A speech is a message whose chunks are still arriving.
type speech struct {
	event, id string // the kind of its event, and the ID of the message, or ""
	at        time.Time
	*event.Content
}

// contentOf returns the digest of the content of an entire message.
func contentOf(content canon.Node) string {
	s := event.NewContent()
	if content.Kind() != canon.KindArray {
		s.Block(content)
		return s.Digest().String()
	}
	for _, n := range content.Elements() {
		s.Block(n)
	}
	return s.Digest().String()
}

// chunk returns a function that joins successive chunks into a message. A different kind of update,
// or a different ID, ends the message.
func chunk(kind string) func(*Translator, *frame) {
	return func(f *Translator, fr *frame) {
		id := fr.Text(fr.update, "messageId")
		if f.speech != nil && (f.speech.event != kind || f.speech.id != id) {
			speak(f, fr)
		}
		if f.speech == nil {
			f.speech = &speech{event: kind, id: id, Content: event.NewContent()}
		}
		if f.speech.at = fr.At; fr.At.IsZero() {
			fr.Fail(event.CodeTime, canon.Node{}, "the time at which it was sent is not recorded")
		}
		f.speech.Block(fr.update.Member("content"))
	}
}

// speak ends the current message. The event of a message contains the digest, but not the text.
func speak(f *Translator, fr *frame) {
	s := f.speech
	if s == nil {
		return
	}
	f.speech = nil
	at := fr.At
	fr.At = s.at
	f.emit(fr, s.event, members{"content_sha256": s.Digest().String()})
	fr.At = at
}

// translatePlan records a plan as a message from the agent.
func translatePlan(f *Translator, fr *frame) {
	entries := fr.update.Member("entries")
	if event.Absent(entries) || entries.Len() == 0 {
		f.counts.Silent++
		return
	}
	f.emit(fr, "agent.message", members{"form": "plan", "content_sha256": event.HashOf(entries).String()})
}

// translateInput records a message that was sent to the agent while it was working.
func translateInput(f *Translator, fr *frame) {
	said := false
	for name := range fr.params.Members() {
		said = said || name.String() != "sessionId"
	}
	if !said {
		f.counts.Silent++
		return
	}
	f.emit(fr, "user.message", members{"content_sha256": event.HashOf(fr.params).String()})
}

// translateUsage records the usage of the session, which is cumulative.
func translateUsage(f *Translator, fr *frame) {
	u := fr.update
	earlier := f.session.loading && !f.session.running()
	f.emit(fr, "span.updated", members{
		"kind": "usage", "used": u.Member("used"), "size": u.Member("size"), "cost": u.Member("cost"), "loaded": f.session.loaded, "earlier": earlier,
	})
}
