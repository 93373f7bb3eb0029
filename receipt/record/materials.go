package record

import (
	"cmp"
	"strconv"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A material is something that a replay needs. Those of a tool's call are
// completed when the call is.
type material struct {
	receipt.Material
	call *call
	told answer // when there is no call
}

// Materials are in the order in which they were told, here and by the task that is
// replayed.
type materials struct {
	order    []material
	recorded map[[5]string]int // contents that were told, and how many each id has had
}

func (m *materials) add(x material) { m.order = append(m.order, x) }

// record adds a material. What is used twice is told once; another content of the
// same id is numbered, as materials are named by their ids. What a substitution made is
// another content in any case.
func (s *materials) record(r *run, e *event.Event, m receipt.Material) {
	content := [5]string{m.Kind, m.ID, m.URI, m.SHA256.String(), overrideOf(e)}
	if s.recorded[content] > 0 {
		return
	}
	s.recorded[content]++

	id := [5]string{m.ID}
	if s.recorded[id]++; s.recorded[id] > 1 {
		m.ID += "#" + strconv.Itoa(s.recorded[id])
	}
	s.add(material{Material: m, told: answerOf(e, canon.Node{})})
	r.Charge(e, e.Root, len(m.ID))
	r.Room(e)
}

// entry is a material as the receipt has it; false where nothing was returned.
func (x material) entry(r *run) (receipt.Material, bool) {
	m := x.Material
	if c := x.call; c != nil {
		if r.calls.dropped(c) || c.outcome == "" {
			return m, false
		}
		m = receipt.Material{Kind: "mcp_tool_return", ID: "mcp:" + c.server + ":" + c.id, URI: c.outputURI, SHA256: c.output.digest}
		if c.server == "" {
			m.Kind, m.ID = "host_fact", "host:"+cmp.Or(c.tool, "unknown")+":"+c.id
		}
	}
	if m.SHA256.IsZero() || m.URI == "" {
		m.Metadata = receipt.Object{}
	}
	return m, true
}

// replayInput lists the materials. A replay is byte for byte only when everything
// that came from a model, a tool or the host is there by its digest.
func (s *materials) replayInput(r *run) receipt.ReplayInput {
	in := receipt.ReplayInput{Determinism: "byte_deterministic", Materials: []receipt.Material{}}
	models := false
	for _, x := range s.order {
		m, returned := x.entry(r)
		if !returned {
			continue
		}
		if key, swapped := r.replay.keyOf(m.ID); swapped {
			m.Metadata = receipt.Object{"override_key": key}
		}

		// Without a digest nothing shows that a replay had the same.
		models = models || m.Kind == "llm_provider_response"
		if m.SHA256.IsZero() {
			in.Determinism = "best_effort"
		}
		in.Materials = append(in.Materials, m)
	}

	// What answered, and is not a material, could answer differently.
	for _, run := range []*run{r, r.source} {
		if run != nil && (run.unrecorded() || run.models.spoke && !models) {
			in.Determinism = "best_effort"
		}
	}

	if r.replay.unavailable != "" {
		in.Determinism, in.UnavailableReason = "unavailable", r.replay.unavailable
	}
	return in
}

func memoryRead(r *run, e *event.Event) {
	r.materials.record(r, e, receipt.Material{Kind: "host_fact", ID: "host:memory:" + e.Required(e.Payload, "memory_id"), URI: e.Text(e.Payload, "uri"), SHA256: e.Digest(e.Payload, "sha256")})
}

// compacted keeps the snapshot from which a transcript was cut: a replay needs it.
func compacted(r *run, e *event.Event) {
	id := e.Text(e.Payload, "snapshot_asset_id")
	if id == "" {
		return
	}
	r.materials.record(r, e, receipt.Material{Kind: "artifact", ID: id, URI: e.Text(e.Payload, "uri"), SHA256: e.Digest(e.Payload, "sha256")})
}

// KindTime is the kind of a [Dependency] on the clock: the others are kinds of materials.
const KindTime = "time"

// A Dependency is something that answered the task: a replay has to answer the same. All
// but those on the clock are materials of the draft.
type Dependency struct {
	Key     string // the id of the material, or time: and the name of the time
	Kind    string // of the material, or KindTime
	EventID string // of the event that told the answer
	Index   int    // which event that was, of those that were added, from 1
	Pointer string // RFC 6901, to the answer in that event; "": the event does not have it
	SHA256  canon.Digest
	URI     string // where the answer is kept; "": nobody tells
	CallID  string // of the call of a tool that returned it; "": it is none
}

// An answer is the place where a log tells what something answered.
type answer struct {
	event   string
	index   int
	pointer string // "": the answer itself is not there
}

// answerOf is the place of a value; a zero one is not there.
func answerOf(e *event.Event, value canon.Node) answer {
	a := answer{event: e.ID, index: e.Index}
	if !value.IsZero() {
		a.pointer = value.Pointer()
	}
	return a
}

// An artifact is the last version of a result.
type artifact struct {
	id, kind, uri string
	digest        canon.Digest
	withheld      string // why the URI is, "" when it is not
	short         bool   // a digest was abbreviated
}

// Artifacts are the results of the task, by their ids.
type artifacts struct {
	event.List[artifact]
	memory int // writes of memory that are none
}

// named returns the artifact that an event names.
func (s *artifacts) named(r *run, e *event.Event) *artifact {
	id := e.Required(e.Payload, "artifact_id")
	a, fresh := s.Entry(id)
	if fresh {
		r.Room(e)
		a.id = id
	}
	last(&a.kind, e.Text(e.Payload, "kind"))
	return a
}

// artifactChanged notes the last version. A digest or a URI that an event leaves
// out is that of the version before only when the event is a link to it.
func artifactChanged(r *run, e *event.Event) {
	a := r.artifacts.named(r, e)
	p := e.Payload
	uri, digest := e.Text(p, "uri"), e.Digest(p, "sha256")
	switch {
	case e.Kind == "artifact.updated":
		a.uri, a.digest, a.withheld = uri, digest, ""
	case a.withheld != "": // what was redacted stays so until there is another version
		last(&a.digest, digest)
	default:
		last(&a.uri, uri)
		last(&a.digest, digest)
	}

	// One that is abbreviated may be that of another version.
	if n := p.Member("sha256"); event.Abbreviated(n) {
		if a.short = !event.Abbreviates(n.String(), a.digest); a.short {
			a.digest = canon.Digest{}
		}
	}

	if e.Flag(p, "applied") {
		r.effects.write(r, e, p, e.Text(p, "tool_call_id"), fromArtifact)
	}
}

func artifactRedacted(r *run, e *event.Event) {
	a := r.artifacts.named(r, e)
	last(&a.digest, e.Digest(e.Payload, "sha256"))
	a.uri, a.withheld = "", "artifact redacted"
	if why := e.Words(e.Payload, "reason"); why != "" {
		a.withheld = why
	}
}

// entries are the artifacts as the receipt has them, and where a URI is withheld.
func (s *artifacts) entries(t *telling) (list []receipt.Artifact, withheld []receipt.Redaction) {
	list = []receipt.Artifact{}
	for i, a := range s.Order {
		if a.withheld != "" {
			withheld = append(withheld, receipt.Redaction{Field: indexed("/final_artifacts", i) + "/uri", Reason: a.withheld})
		}
		if a.short && a.digest.IsZero() {
			t.untold(indexed("/final_artifacts", i) + "/sha256")
		}
		list = append(list, receipt.Artifact{ArtifactID: a.id, Kind: t.name(indexed("/final_artifacts", i)+"/kind", a.kind, "unknown"), URI: a.uri, SHA256: a.digest})
	}
	return list, withheld
}

func memoryWrite(r *run, e *event.Event) {
	if !event.Absent(e.Payload.Member("artifact_id")) {
		artifactChanged(r, e)
		return
	}
	r.artifacts.memory++
}
