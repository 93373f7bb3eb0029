package story

import "strconv"

// A published resource is what the task left at a URL.
type published struct {
	kind, url string
	tool      string // that sent it there; "": it is linked only
	number    int
	first     Place
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
