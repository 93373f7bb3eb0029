package story

import (
	"strconv"

	"github.com/receiptkit/receiptkit/receipt/record/event"
)

// A published resource is what the task left at a URL.
type published struct {
	kind, url string
	tool      string // that sent it there; "": it is linked only
	number    int
	first     Place
}

// Publish notes a resource that the task left at a URL, once. A tool, if there is one, sent
// it there.
func (s *Story) Publish(kind, url, tool string) {
	if !event.IsHTTP(url) {
		s.Garbled()
		return
	}
	p, fresh := s.published.entry(s, url)
	if fresh {
		*p = published{kind, url, tool, len(s.published.Order), s.mark()}
	}
}

func (p *published) link(o *object) {
	o.text("artifact_id", p.kind+"_"+strconv.Itoa(p.number))
	o.text("kind", p.kind)
	o.text("uri", p.url)
}

func (p *published) send(o *object) {
	o.text("kind", "http")
	o.text("url", p.url)
	o.text("name", p.tool)
}
