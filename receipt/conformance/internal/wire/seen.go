package wire

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
)

// maxResources bounds how many resources are remembered.
const maxResources = 1 << 14

// Seen compares every answer and every event of a run with the component that its route has,
// and every resource with what was read of it before. It is safe for concurrent use.
type Seen struct {
	mu      sync.Mutex
	faults  map[string]string // by component, the first value without its form
	count   map[string]int    // by component, the values that were compared
	fixed   map[canon.Digest]map[string]canon.Digest
	changed string // the first resource that changed, and where
}

// Form returns how many values of a component were compared, and the first fault, "" for none.
func (s *Seen) Form(component string) (compared int, fault string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count[component], s.faults[component]
}

// Changed describes the first resource that changed in a member that never changes, "" for
// none.
func (s *Seen) Changed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// answer compares an answer to a client with a key.
func (s *Seen) answer(key string, a *Answer) {
	route := routeOf(a.Request)
	if route == nil {
		return
	}
	root := a.Root()
	switch name := route.componentOf(a); {
	case name == "":
	case root.IsZero():
		s.check(name, a.Request, func(func(string, canon.Node)) *Fault {
			return &Fault{Component: name, Text: "expected a strict JSON text, found none"}
		}, key)
	case route.List && a.Code < http.StatusBadRequest:
		s.check("List", a.Request, func(seen func(string, canon.Node)) *Fault { return CheckList(name, root, seen) }, key)
	default:
		s.check(name, a.Request, func(seen func(string, canon.Node)) *Fault { return CheckForm(name, root, seen) }, key)
	}
}

// event compares an event of a stream.
func (s *Seen) event(key string, q Request, data *canon.Document) {
	s.check("Event", q, func(seen func(string, canon.Node)) *Fault { return CheckForm("Event", data.Root(), seen) }, key)
}

// check makes a comparison and keeps what it finds.
func (s *Seen) check(component string, q Request, compare func(seen func(string, canon.Node)) *Fault, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count == nil {
		s.count, s.faults, s.fixed = map[string]int{}, map[string]string{}, map[canon.Digest]map[string]canon.Digest{}
	}
	if q.NoKey {
		key = ""
	}

	counted := false
	fault := compare(func(component string, n canon.Node) {
		s.count[component]++
		counted = true
		s.resource(key, q, component, n)
	})
	if !counted || component == "List" {
		s.count[component]++
	}
	if fault == nil {
		return
	}
	if s.faults[fault.Component] == "" {
		s.faults[fault.Component] = fmt.Sprintf("%s: at %s: %s", q, Quote(fault.At()), fault.Text)
	}
	if fault.Component != component {
		s.count[fault.Component]++
	}
}

// resource compares a resource with what this client read of it before. A member that had no
// value may get one.
func (s *Seen) resource(key string, q Request, component string, n canon.Node) {
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
		digest := canon.Sum(value.AppendCanonical(nil))
		switch {
		case is && known != digest && s.changed == "":
			s.changed = fmt.Sprintf("%s: expected %s of the %s %s as it was read before, found another value", q, m.name, Quote(object), Quote(id))
		case !is && value.Kind() != canon.KindNull:
			before[m.name] = digest
		}
	}
}
