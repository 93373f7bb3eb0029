package wire

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// maxResources limits the number of resources that are remembered.
const maxResources = 1 << 14

// Seen checks every response and every event in a run against the component of its route, and
// compares every resource with earlier reads of it. It is safe for concurrent use.
type Seen struct {
	mu      sync.Mutex
	faults  map[string]string // the first fault of each component
	count   map[string]int    // number of values that were checked, by component
	fixed   map[canon.Digest]map[string]canon.Digest
	changed string // describes the first resource that changed, and where it changed
}

// Form returns the number of values that were checked against a component, and the first fault, or
// "" if there is none.
func (s *Seen) Form(component string) (compared int, fault string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count[component], s.faults[component]
}

// Changed describes the first resource in which an immutable member changed, or returns "" if there
// is none.
func (s *Seen) Changed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// answer checks an answer that the client with the given key received.
func (s *Seen) answer(key string, a *Answer) {
	route := routeOf(a.Request)
	if route == nil {
		return
	}
	name, root := route.componentOf(a), a.Root()
	media, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	switch {
	case name == "":
	case root.IsZero():
		s.fault(a.Request, &Fault{Component: name, Text: "expected a strict JSON text, found none"})
	case media != protocol.MediaJSON && !strings.HasSuffix(media, "+json"):
		s.fault(a.Request, &Fault{Component: name, Text: "expected the Content-Type " + protocol.MediaJSON + ", found " + Quote(media)})
	case route.List && a.Code < http.StatusBadRequest:
		s.counted("List")
		s.fault(a.Request, CheckList(name, root, s.seen(key, a.Request)))
		s.counted("Filter")
		s.fault(a.Request, route.filters(a.Request, root))
	default:
		s.counted(name)
		s.fault(a.Request, CheckForm(name, root, s.seen(key, a.Request)))
	}
}

// event checks an event in a stream.
func (s *Seen) event(key string, q Request, data *canon.Document) {
	s.fault(q, CheckForm("Event", data.Root(), s.seen(key, q)))
}

// seen returns a function that remembers the resources in one answer.
func (s *Seen) seen(key string, q Request) func(string, canon.Node) {
	if q.NoKey {
		key = ""
	}
	return func(component string, n canon.Node) {
		s.counted(component)
		s.resource(key, q, component, n)
	}
}

// counted counts a value of a component.
func (s *Seen) counted(component string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count == nil {
		s.count, s.faults, s.fixed = map[string]int{}, map[string]string{}, map[canon.Digest]map[string]canon.Digest{}
	}
	s.count[component]++
}

// fault records the first fault of each component.
func (s *Seen) fault(q Request, f *Fault) {
	if f == nil {
		return
	}
	s.counted(f.Component)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.faults[f.Component] == "" {
		s.faults[f.Component] = fmt.Sprintf("%s: at %s: %s", q, Quote(f.At()), f.Text)
	}
}

// digestOf returns the digest of a value. Different spellings of the same time have the same
// digest.
func digestOf(value canon.Node) canon.Digest {
	if at, err := receipt.ParseTime(value.String()); value.Kind() == canon.KindString && err == nil {
		return canon.Sum([]byte(at.UTC().Format(time.RFC3339Nano)))
	}
	return canon.Sum(value.AppendCanonical(nil))
}

// resource compares a resource with the client's earlier reads of it. A member without a value may
// get a value later.
func (s *Seen) resource(key string, q Request, component string, n canon.Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	object, id := n.Member("object").String(), n.Member("id").String()
	name := canon.Sum(fmt.Appendf(nil, "%q %q %q", key, object, id))
	before := s.fixed[name]
	if before == nil {
		if len(s.fixed) == maxResources {
			return
		}
		before = map[string]canon.Digest{}
		s.fixed[name] = before
	}
	for _, m := range forms()[component].members {
		value := n.Member(m.name)
		if !m.fixed || value.IsZero() {
			continue
		}
		known, is := before[m.name]
		digest := digestOf(value)
		switch {
		case is && known != digest && s.changed == "":
			s.changed = fmt.Sprintf("%s: expected %s of the %s %s as it was read before, found another value", q, m.name, Quote(object), Quote(id))
		case !is && value.Kind() != canon.KindNull:
			before[m.name] = digest
		}
	}
}
