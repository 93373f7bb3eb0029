package bridge

import (
	"cmp"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A frameCall is the state of a call according to its frames.
type frameCall struct {
	id, name, kind string
	candidate      bool // the call is in a model's text, but was not promoted
	announced      bool
	executed       bool
	input          canon.Digest
	server, url    string
	paths          []string
	named          map[string]bool // the set of paths
	previews       map[string]preview
	running        canon.Digest // the input with which the call was reported to run
	heard          canon.Digest // digest of the messages from the tool
	unsaid         bool         // no event contains the digest in heard yet
	told           bool         // a frame other than a permission request describes the call
	approved       bool         // an answer approved the call
	acts           string       // "diff" or "terminal" if a content block can change files
	noted          bool         // the conflict between acts and kind was already recorded
}

// A preview contains the digests of a file before and after a write, if a diff shows them.
type preview struct {
	create        bool
	before, after canon.Digest
	short         string // the digest from before the write, if it is abbreviated
}

// calls contains the calls of the session.
type calls struct {
	byID    map[string]*frameCall
	order   []*frameCall   // in order of appearance
	numbers map[string]int // number of host calls for each request ID
	root    string         // of the workspace
	budget  *event.Budget
}

// named returns the call with the given ID, and creates it if necessary.
func (s *calls) named(fr *frame, id string) *frameCall {
	c := s.byID[id]
	if c == nil {
		if len(s.byID) >= event.MaxEntries {
			fr.Exceed("MaxEntries", fr.params, len(s.byID)+1)
		}
		c = &frameCall{id: id}
		s.order = append(s.order, c)
		s.budget.Charge(&fr.Event, fr.params, requestCost)
		s.byID[id] = c
	}
	return c
}

// describe reads the planned effects of a call.
func (c *frameCall) describe(f *Translator, fr *frame, n canon.Node) {
	c.kind = cmp.Or(fr.Text(n, "kind"), c.kind)
	c.address(fr, n)

	// New locations replace all previous locations.
	if locations := fr.Elements(n, "locations"); len(locations) > 0 {
		f.budget.Free(len(c.paths) * event.PartCost)
		c.paths, c.named = nil, nil
		for _, l := range locations {
			if c.place(f, fr, fr.Required(l, "path")); fr.Err != nil {
				return
			}
		}
	}

	c.contents(f, fr, n)
}

// contents reads the content blocks of a call. A diff contains a file's planned content, and a
// terminal may change any file.
func (c *frameCall) contents(f *Translator, fr *frame, n canon.Node) {
	for _, block := range fr.Elements(n, "content") {
		if fr.Err != nil {
			return
		}
		switch kind := block.Member("type").String(); kind {
		case "diff":
			c.preview(f, fr, block)
			c.acts = kind
		case "terminal":
			c.acts = kind
		case "content":
		default:
			f.unread.note(f, fr, fr.Kind+" content "+kind, block)
		}
	}

	// A call that only reads has neither a diff nor a terminal, so the stated kind of this call is
	// wrong.
	if c.acts != "" && !c.noted && reads(c.kind) {
		c.noted = true
		f.unread.note(f, fr, fr.Kind+" "+c.kind+" with "+c.acts, n)
	}
}

// reads reports whether calls of a kind change no files.
func reads(kind string) bool {
	return kind == "read" || kind == "search" || kind == "think" || kind == "fetch"
}

// address records the URL in the input of a call.
func (c *frameCall) address(fr *frame, n canon.Node) {
	if at := Own(n, "rawInput").Member("url"); at.Kind() == canon.KindString && len(at.Text()) > 0 {
		c.url = fr.Once(at.Text())
	}
}

// place records the path of a file that a call may change.
func (c *frameCall) place(f *Translator, fr *frame, name string) {
	if c.named[name] {
		return
	}
	if len(c.paths) == event.MaxPaths {
		fr.Exceed(event.LimitPaths, fr.params, event.MaxPaths+1)
		return
	}
	if c.named == nil {
		c.named = map[string]bool{}
	}
	c.named[name] = true
	c.paths = append(c.paths, name)
	f.budget.Charge(&fr.Event, fr.params, event.PartCost)
}

// placed returns the key under which a preview is stored, because a diff and a report may spell the
// same path differently.
func (s *calls) placed(name string) string {
	if p, ok := event.InWorkspace(s.root, name); ok {
		return p
	}
	return name
}

// preview reads a diff. The old and the new text may be parts of a file. They are the entire file
// if the old text matches the stated digest of the file, or if the file did not exist.
func (c *frameCall) preview(f *Translator, fr *frame, diff canon.Node) {
	name := fr.Required(diff, "path")
	stated := Own(diff, "permission_preview").Member("preimageSha256")
	var p preview
	if !event.Absent(stated) {
		d, ok := event.ParseDigest(stated)
		switch {
		case event.Abbreviated(stated):
			p.short = stated.String()
		case !ok:
			fr.Fail(event.CodePayload, stated, "expected a SHA-256 in hexadecimal digits")
		}
		p.before = d
	}

	// The digest of the file can match only the text of the entire file.
	old, text := diff.Member("oldText"), diff.Member("newText")
	p.create = event.Absent(old) && event.Absent(stated)
	if whole := p.create || old.Kind() == canon.KindString && canon.Sum(old.Text()) == p.before; whole && text.Kind() == canon.KindString {
		p.after = canon.Sum(text.Text())
	}
	if c.previews == nil {
		c.previews = map[string]preview{}
	}

	key := f.calls.placed(name)
	if _, again := c.previews[key]; !again {
		f.budget.Charge(&fr.Event, diff, event.PartCost)
	}
	c.previews[key] = p
	c.place(f, fr, name)
}

func translateCall(f *Translator, fr *frame) {
	c := f.calls.named(fr, fr.Required(fr.update, "toolCallId"))
	c.name = cmp.Or(c.name, cmp.Or(fr.str(fr.update, "toolName"), fr.Required(fr.update, "title")))
	c.updated(f, fr)
}

func translateCallUpdate(f *Translator, fr *frame) {
	c := f.calls.named(fr, fr.Required(fr.update, "toolCallId"))
	c.name = cmp.Or(c.name, cmp.Or(fr.str(fr.update, "toolName"), fr.Text(fr.update, "title")))
	c.updated(f, fr)
}

// updated applies a new call or an update to a call. It ignores a candidate that was never
// dispatched, unless the call is running or has run.
func (c *frameCall) updated(f *Translator, fr *frame) {
	u := fr.update
	c.describe(f, fr, u)
	c.hear(u)
	status := fr.Text(u, "status")
	if p := Own(u, "parsing"); p.Kind() == canon.KindBool {
		c.candidate = p.Bool()
	}

	running := status == "in_progress"
	ran := running || c.executed || fr.Count(harnOf(u, "executionDurationMs"), "executionDurationMs") > 0 || fr.str(u, "mutationStatus") == "applied"
	ends := status == "completed" || status == "failed"
	if status == "failed" && !c.announced && !ran && fr.str(u, "errorCategory") == parseAborted {
		f.counts.Silent++ // a dropped candidate
		return
	}

	// A call that runs or ends must have been promoted.
	if running || ends {
		c.candidate = false
	}

	if !c.candidate {
		c.announce(f, fr, running)
	}
	c.executed = c.executed || running
	if ends {
		c.close(f, fr, status)
	}
}

// hear adds the messages from the tool to a digest, so that the digest of the log covers them, too.
func (c *frameCall) hear(u canon.Node) {
	for _, name := range []string{"content", "error", "rawInputPartial"} {
		if n := Own(u, name); !event.Absent(n) && (n.Kind() != canon.KindArray || n.Len() > 0) {
			text := n.AppendCanonical(nil)
			if !c.heard.IsZero() {
				text = append(c.heard[:], text...)
			}
			c.heard, c.unsaid = canon.Sum(text), true
		}
	}
}

// saying returns the digest of the messages from the tool, but only once.
func (c *frameCall) saying() string {
	if !c.unsaid {
		return ""
	}
	c.unsaid = false
	return c.heard.String()
}

// announce opens a call. It opens the call again if there is new input or a new server, or if the
// execution of the call starts.
func (c *frameCall) announce(f *Translator, fr *frame, running bool) {
	input := fr.update.Member("rawInput")
	executor, server := fr.executor(fr.update)
	news := !c.announced || server != "" && c.server == "" || running && !c.executed

	// A status that is not in the table is passed on unchanged.
	raw := fr.Text(fr.update, "status")
	switch raw {
	case "pending", "in_progress", "completed", "failed":
		raw = ""
	}

	// New input opens the call again, and so does a different input for the execution.
	news = news || raw != ""
	if event.Absent(input) {
		input = canon.Node{}
	} else {
		d := event.HashOf(input)
		news = news || d != c.input || running && d != c.running
		if c.input = d; running {
			c.running = d
		}
	}

	if !news {
		f.counts.Silent++
		return
	}

	c.server = cmp.Or(c.server, server)
	c.announced, c.told = true, true
	kind := "tool.requested"
	if c.server != "" {
		kind = "agent.mcp_tool_use"
	}

	audit := Own(fr.update, "audit")
	f.emit(fr, kind, members{
		"tool_call_id": c.id, "name": c.name, "kind": c.kind, "input": input, "server": c.server, "executor": executor, "executed": running, "raw_status": raw,
		"mutation_scope": fr.Text(audit, "mutation_scope"), "run_id": fr.Text(audit, "run_id"), "worker_id": fr.Text(audit, "worker_id"),
		"policy_ref": fr.policyRef(fr.update),
	})
}

// close ends a call.
func (c *frameCall) close(f *Translator, fr *frame, status string) {
	u := fr.update
	c.told = true
	executor, server := fr.executor(u)
	if executor == "mcp_server" {
		server = cmp.Or(server, c.server)
	}

	p := members{
		"tool_call_id": c.id, "kind": c.kind, "input": Own(u, "rawInput"), "output": Own(u, "rawOutput"), "executor": executor, "server": server,
		"output_uri": fr.str(u, "outputUri"), "duration_ms": Own(u, "durationMs"), "execution_duration_ms": Own(u, "executionDurationMs"),
		"executed": c.executed, "fs_writes": c.writes(f, fr, status), "content_sha256": c.saying(),
	}

	// A call that failed before it reached the network did not send any data.
	category := fr.str(u, "errorCategory")
	if status == "completed" || c.reached(fr, category) {
		p["network_egress"] = c.egress(u, server)
	}
	if status == "failed" {
		p["error_category"] = category
		f.emit(fr, "tool.failed", p)
		return
	}
	f.emit(fr, "tool.completed", p)
}

// reached reports whether a failed call may have reached the network.
func (c *frameCall) reached(fr *frame, category string) bool {
	switch category {
	case "network", "timeout", "tool_error", "mcp_server_error", "host_bridge_error":
		return true
	}
	return c.executed || fr.Count(harnOf(fr.update, "executionDurationMs"), "executionDurationMs") > 0
}

// egress returns the transmission of a call to a URL, if the call fetches data or was executed by
// an MCP server. Otherwise, it returns nil.
func (c *frameCall) egress(u canon.Node, server string) []members {
	network := c.kind == "fetch" || strings.HasPrefix(c.name, "http") || server != ""
	if !network || !event.IsHTTP(c.url) {
		return nil
	}
	bytes := Own(u, "data").Member("bytes_sent")
	if host, clear := event.HostOf(c.url); clear {
		return []members{{"host": host, "bytes_sent": bytes}}
	}
	return []members{{"url": event.Shorten(c.url), "bytes_sent": bytes}}
}

// writes returns the files that a call changed, even if the call failed. It returns nil if the
// frames do not record these files.
func (c *frameCall) writes(f *Translator, fr *frame, status string) any {
	editing := c.kind == "edit" || c.kind == "delete" || c.kind == "move"
	switch fr.str(fr.update, "mutationStatus") {
	case "not_applied", "unchanged":
		return raw("[]")
	case "applied":
	case "":
		if !editing || status != "completed" {
			return nil
		}
	default: // unknown
		return nil
	}

	// If the frames report no changed paths, the announced paths are used.
	paths := c.paths
	if changed := Own(fr.update, "changedPaths"); !changed.IsZero() {
		paths = nil
		for _, n := range changed.Elements() {
			paths = append(paths, n.String())
		}
	}

	// If a file was moved, there are two paths: the old path and the new path.
	if c.kind == "move" && len(paths) == 2 {
		return []members{{"operation": "rename", "from": paths[0], "path": paths[1]}}
	}

	var all []members
	for _, name := range paths {
		all = append(all, c.written(name, f.calls.placed(name), status))
	}

	return all
}

// written returns the change to one file. The content in a preview was written only if the call
// succeeded.
func (c *frameCall) written(name, place, status string) members {
	w := members{"path": name}
	p, previewed := c.previews[place]
	switch {
	case c.kind == "delete":
		w["operation"], p.after = "delete", canon.Digest{}
	case previewed && p.create:
		w["operation"] = "create"
	case previewed, c.kind == "edit", c.kind == "move":
		w["operation"] = "modify"
	}

	// Unrecorded digests are omitted.
	if w["before_sha256"] = p.short; !p.before.IsZero() {
		w["before_sha256"] = p.before.String()
	}
	if !p.after.IsZero() && status == "completed" {
		w["after_sha256"] = p.after.String()
	}

	return w
}
