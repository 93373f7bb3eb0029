package record

import (
	"cmp"
	"strconv"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A material is an input of a replay. The material of a tool call is complete once the call is
// complete.
type material struct {
	receipt.Material
	call *call
	told answer // location of the answer, if the material does not belong to a call
}

// materials contains the materials in the order in which the task, or the task that it replays,
// recorded them.
type materials struct {
	order    []material
	recorded map[[5]string]int // contains each recorded content, and the number of contents for each ID
}

func (m *materials) add(x material) { m.order = append(m.order, x) }

// record adds a material. A repeated material is listed once. If several contents have the same ID,
// a number is appended to the ID of each content after the first, because an ID must identify one
// material. A substituted content is always listed separately.
func (s *materials) record(r *run, e *event.Event, m receipt.Material) {
	content := [5]string{m.Kind, m.ID, m.URI, m.SHA256.String(), overrideOf(e)}
	if s.recorded[content] > 0 {
		return
	}
	s.recorded[content]++

	// An ID identifies one material, so different content needs a different ID.
	id := [5]string{m.ID}
	if s.recorded[id]++; s.recorded[id] > 1 {
		m.ID += "#" + strconv.Itoa(s.recorded[id])
	}
	s.add(material{Material: m, told: answerOf(e, canon.Node{})})
	r.Charge(e, e.Root, len(m.ID))
	r.Room(e)
}

// entry returns a material for the receipt, or false if no content was returned.
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

// replayInput lists the materials. A replay is exact, byte for byte, only if every answer from a
// model, a tool, or the host is a material with a digest.
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

		// Without a digest, nothing shows that a replay uses the same content.
		models = models || m.Kind == "llm_provider_response"
		if m.SHA256.IsZero() {
			in.Determinism = "best_effort"
		}
		in.Materials = append(in.Materials, m)
	}

	// An answer that is not a material may differ in a replay.
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

// compacted records the snapshot from which a transcript was shortened, because a replay needs this
// snapshot.
func compacted(r *run, e *event.Event) {
	id := e.Text(e.Payload, "snapshot_asset_id")
	if id == "" {
		return
	}
	r.materials.record(r, e, receipt.Material{Kind: "artifact", ID: id, URI: e.Text(e.Payload, "uri"), SHA256: e.Digest(e.Payload, "sha256")})
}

// KindTime is the kind of a [Dependency] on the clock. All other kinds are material kinds.
const KindTime = "time"

// A Dependency is an answer that the task received and that a replay must return again. All
// dependencies except those on the clock are materials in the draft.
type Dependency struct {
	Key     string // the material's ID, or "time:" followed by the name of the time
	Kind    string // the material's kind, or KindTime
	EventID string // ID of the event with the answer
	Index   int    // position of that event among all added events, counting from 1
	Pointer string // JSON Pointer (RFC 6901) to the answer in that event; "" if the event does not contain it
	SHA256  canon.Digest
	URI     string // location of the answer; "" if unknown
	CallID  string // ID of the tool call that returned it, or ""
}

// An answer identifies the location of an answer in the log.
type answer struct {
	event   string
	index   int
	pointer string // "" if the log does not contain the answer
}

// answerOf returns the location of a value. A zero value is not in the log.
func answerOf(e *event.Event, value canon.Node) answer {
	a := answer{event: e.ID, index: e.Index}
	if !value.IsZero() {
		a.pointer = value.Pointer()
	}
	return a
}

// An artifact is the latest version of a result.
type artifact struct {
	id, kind, uri string
	digest        canon.Digest
	withheld      string // the reason if the URI is withheld; otherwise ""
	short         bool   // the digest was abbreviated
}

// artifacts contains the results of the task by ID.
type artifacts struct {
	event.List[artifact]
	memory int // number of memory writes that are not artifacts
}

// named returns the artifact to which an event refers.
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

// artifactChanged records a new version of an artifact. If an event omits a digest or a URI, the
// previous value is kept only if the event is just a link to the same version.
func artifactChanged(r *run, e *event.Event) {
	a := r.artifacts.named(r, e)
	p := e.Payload
	uri, digest := e.Text(p, "uri"), e.Digest(p, "sha256")
	switch {
	case e.Kind == "artifact.updated":
		a.uri, a.digest, a.withheld = uri, digest, ""
	case a.withheld != "": // a redaction remains in effect until there is another version
		last(&a.digest, digest)
	default:
		last(&a.uri, uri)
		last(&a.digest, digest)
	}

	// An abbreviated digest may be the digest of another version.
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

// entries returns the artifacts for the receipt and the withheld URIs.
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
