package bridge

import (
	"crypto/sha256"
	"hash"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/event"
)

// A speech is a message while its chunks come. Its digest is that of its content, an
// array of blocks in RFC 8785 form, in which texts that follow each other are one: it
// does not depend on where a message was cut.
type speech struct {
	event, id string // the event that it becomes; the id of the message, if it has one
	at        time.Time
	sum       hash.Hash
	blocks    int
	inText    bool
}

func newSpeech(event, id string) *speech {
	s := &speech{event: event, id: id, sum: sha256.New()}
	s.sum.Write([]byte{'['})
	return s
}

// block adds a block. A text that says no more than that is joined with the one before.
func (s *speech) block(n canon.Node) {
	text, plain := plainText(n)
	if plain && s.inText {
		s.sum.Write(text)
		return
	}

	s.endText()
	if s.blocks++; s.blocks > 1 {
		s.sum.Write([]byte{','})
	}

	// RFC 8785 section 3.2.3: the member text comes before type.
	if plain {
		s.sum.Write([]byte(`{"text":"`))
		s.sum.Write(text)
		s.inText = true
		return
	}
	s.sum.Write(n.AppendCanonical(nil))
}

func (s *speech) endText() {
	if s.inText {
		s.sum.Write([]byte(`","type":"text"}`))
		s.inText = false
	}
}

func (s *speech) digest() string {
	s.endText()
	s.sum.Write([]byte{']'})
	return canon.Digest(s.sum.Sum(nil)).String()
}

// plainText returns the text of a block as JSON has it, without quotes.
func plainText(n canon.Node) ([]byte, bool) {
	if n.Member("type").String() != "text" || n.Member("text").Kind() != canon.KindString {
		return nil, false
	}
	for name, value := range n.Members() {
		if s := name.String(); s != "type" && s != "text" && !event.Absent(value) {
			return nil, false
		}
	}

	// RFC 8785 section 3.2.2.2: a string has one spelling.
	quoted := canon.AppendString(nil, n.Member("text").String())
	return quoted[1 : len(quoted)-1], true
}

// contentOf is the digest of the content of a whole message.
func contentOf(content canon.Node) string {
	s := newSpeech("", "")
	if content.Kind() != canon.KindArray {
		s.block(content)
		return s.digest()
	}
	for _, n := range content.Elements() {
		s.block(n)
	}
	return s.digest()
}

// chunk returns what makes a message of the chunks that follow each other. Another
// update between them ends it, and so does another id.
func chunk(kind string) func(*Translator, *frame) {
	return func(f *Translator, fr *frame) {
		id := fr.Text(fr.update, "messageId")
		if f.speech != nil && (f.speech.event != kind || f.speech.id != id) {
			speak(f, fr)
		}
		if f.speech == nil {
			f.speech = newSpeech(kind, id)
		}
		if f.speech.at = fr.At; fr.At.IsZero() {
			fr.Fail(event.CodeTime, canon.Node{}, "nothing tells when it was sent")
		}
		f.speech.block(fr.update.Member("content"))
	}
}

// speak ends a message: the event has its digest, never its words.
func speak(f *Translator, fr *frame) {
	s := f.speech
	if s == nil {
		return
	}
	f.speech = nil
	at := fr.At
	fr.At = s.at
	f.emit(fr, s.event, members{"content_sha256": s.digest()})
	fr.At = at
}

// translatePlan: what an agent is going to do is said, too.
func translatePlan(f *Translator, fr *frame) {
	entries := fr.update.Member("entries")
	if event.Absent(entries) || entries.Len() == 0 {
		f.counts.Silent++
		return
	}
	f.emit(fr, "agent.message", members{"form": "plan", "content_sha256": event.HashOf(entries).String()})
}

// translateInput: what somebody says to the agent while it works.
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

// translateUsage: the account of the session, which is cumulative.
func translateUsage(f *Translator, fr *frame) {
	u := fr.update
	earlier := f.session.loading && !f.session.running()
	f.emit(fr, "span.updated", members{
		"kind": "usage", "used": u.Member("used"), "size": u.Member("size"), "cost": u.Member("cost"), "loaded": f.session.loaded, "earlier": earlier,
	})
}
