package record

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// An origin says what told of a side effect. Several events may tell of one: what
// a tool's own events say of its call stands in place of what a span or an
// artifact of the same call says.
type origin int

const (
	fromSpan     origin = iota + 1
	fromArtifact        // a file that is said to be applied
	fromRequest         // what the agent was going to do
	fromResult          // what the agent was told, in the transcript
	fromTool            // what the runtime says of the call
)

// A write is one change of a file.
type write struct {
	path, operation string
	before, after   canon.Digest
	call            string
	origin          origin
}

// An egress is data sent to a host.
type egress struct {
	destination, purpose string
	bytes                *int64
	call                 string
	origin               origin
}

// effects reads what a tool says that it changed and sent. Of a call that ends
// again only what is new is told.
func (r *run) effects(e *event, c *call, o origin) {
	writes, sent := len(r.writes), len(r.egress)
	for _, n := range e.elements(e.payload, "fs_writes") {
		if r.write(e, n, c.id, o); e.err != nil {
			return
		}
	}
	for _, n := range e.elements(e.payload, "network_egress") {
		if r.reach(e, n, c.tool, c.id, o); e.err != nil {
			return
		}
	}
	r.writes = untold(r.told, r.writes, writes, func(w write) any { return w })
	r.egress = untold(r.told, r.egress, sent, egress.key)
}

// untold drops of what came behind a place what an earlier event told.
func untold[T any](told map[any]bool, all []T, place int, key func(T) any) []T {
	added := all[place:]
	kept := slices.DeleteFunc(added, func(x T) bool { return told[key(x)] })
	for _, x := range kept {
		told[key(x)] = true
	}
	return all[:place+len(kept)]
}

// key is the egress as a value that can be compared.
func (s egress) key() any {
	bytes := int64(-1)
	if s.bytes != nil {
		bytes = *s.bytes
	}
	s.bytes = nil
	return [2]any{s, bytes}
}

// write reads one change of a file. A rename is a deletion and a creation, as the
// entry of a receipt has one path.
func (r *run) write(e *event, n canon.Node, callID string, o origin) {
	w := write{
		path: e.required(n, "path"), operation: e.text(n, "operation"), call: callID, origin: o,
		before: e.digest(n, "before_sha256"), after: e.digest(n, "after_sha256"),
	}
	switch w.operation {
	case "":
		w.operation = "modify"
	case "create", "modify", "delete":
	case "rename":
		old := w
		old.path, old.operation, old.after = e.required(n, "from"), "delete", canon.Digest{}
		r.writes = append(r.writes, old)
		r.room(e)
		w.operation, w.before = "create", canon.Digest{}
	default:
		e.fail(CodePayload, n.Member("operation"), "expected create, modify, delete or rename")
	}
	r.writes = append(r.writes, w)
	r.room(e)
}

// reach reads one transmission.
func (r *run) reach(e *event, n canon.Node, purpose, callID string, o origin) {
	at := e.text(n, "url")
	if at == "" {
		at = e.text(n, "host")
	}
	if at == "" {
		at = e.text(n, "destination")
	}
	last(&purpose, e.words(n, "purpose"))
	host := hostOf(at)
	if host == "" {
		e.fail(CodePayload, n, "expected a host or a URL")
	}
	r.send(e, egress{destination: host, purpose: purpose, bytes: e.optionalCount(n, "bytes_sent"), call: callID, origin: o})
}

func (r *run) send(e *event, s egress) {
	s.destination = e.once([]byte(s.destination))
	r.egress = append(r.egress, s)
	r.room(e)
}

// outside is the label of a path that does not lie in the workspace.
const outside = "(outside the workspace)"

// inWorkspace returns a path relative to the workspace, with slashes.
func inWorkspace(root, p string) (string, bool) {
	if root != "" && strings.HasPrefix(p, root) {
		if rest := p[len(root):]; root == "/" || strings.HasPrefix(rest, "/") {
			p = strings.TrimLeft(rest, "/")
		}
	}
	drive := len(p) > 1 && p[1] == ':' && (p[0]|0x20) >= 'a' && (p[0]|0x20) <= 'z'
	if p == "" || p[0] == '/' || p[0] == '~' || drive || strings.HasPrefix(p, `\`) || strings.HasPrefix(p, "file:") {
		return outside, false
	}
	if p = path.Clean(p); p == ".." || strings.HasPrefix(p, "../") {
		return outside, false
	}
	return p, true
}

func isHTTP(at string) bool {
	lower := strings.ToLower(at)
	return strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://")
}

// hostOf returns the host of a URL or of host:port, and nothing else of it: user
// information, path and query may hold secrets.
func hostOf(at string) string {
	if i := strings.Index(at, "://"); i >= 0 {
		at = at[i+3:]
	}
	if i := strings.IndexAny(at, `/\?#`); i >= 0 {
		at = at[:i]
	}
	at = at[strings.LastIndexByte(at, '@')+1:]
	switch end := strings.IndexByte(at, ']'); {
	case strings.HasPrefix(at, "[") && end > 0:
		at = at[:end+1]
	case strings.Count(at, ":") == 1:
		at, _, _ = strings.Cut(at, ":")
	}
	if strings.ContainsAny(at, " \t\r\n\"<>") {
		return ""
	}
	return strings.ToLower(at)
}

// told returns the effects that are listed: those of a span or an artifact only
// where the events of the same call tell of none.
func told[T any](all []T, of func(T) (string, origin)) []T {
	best := map[string]origin{}
	for _, x := range all {
		if id, o := of(x); id != "" {
			best[id] = max(best[id], o)
		}
	}
	var kept []T
	for _, x := range all {
		if id, o := of(x); id == "" || o == best[id] {
			kept = append(kept, x)
		}
	}
	return kept
}

func (r *run) fileWrites() (list []receipt.FileWrite, withheld []string) {
	list = []receipt.FileWrite{}
	for _, w := range told(r.writes, func(w write) (string, origin) { return w.call, w.origin }) {
		name, ok := inWorkspace(r.options.WorkspaceRoot, w.path)
		if !ok {
			withheld = append(withheld, indexed("/side_effects/fs_writes", len(list))+"/path")
		}
		list = append(list, receipt.FileWrite{
			Path: name, Operation: w.operation,
			BeforeSHA256: receipt.NullableDigest{Digest: w.before}, AfterSHA256: receipt.NullableDigest{Digest: w.after},
		})
	}
	return list, withheld
}

func (r *run) networkEgress() []receipt.NetworkEgress {
	list := []receipt.NetworkEgress{}
	for _, s := range told(r.egress, func(s egress) (string, origin) { return s.call, s.origin }) {
		if c := r.calls.byID[s.call]; c != nil && s.purpose == "" {
			s.purpose = c.tool
		}
		if s.purpose == "" {
			s.purpose = "unknown"
		}
		list = append(list, receipt.NetworkEgress{Destination: s.destination, Purpose: s.purpose, BytesSent: s.bytes})
	}
	return list
}

func indexed(at string, i int) string { return at + "/" + strconv.Itoa(i) }
