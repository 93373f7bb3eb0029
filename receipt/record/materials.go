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
