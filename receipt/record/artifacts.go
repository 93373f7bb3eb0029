package record

import (
	"strconv"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// An artifact is the last version of a result.
type artifact struct {
	id, kind, uri string
	digest        canon.Digest
	withheld      string // why the URI is, "" when it is not
}

func (r *run) artifact(e *event) *artifact {
	id := e.required(e.payload, "artifact_id")
	a, fresh := r.artifacts.entry(id)
	if fresh {
		r.room(e)
		a.id, a.kind = id, "unknown"
	}
	last(&a.kind, e.text(e.payload, "kind"))
	return a
}

// artifactChanged notes the last version. A digest or a URI that an event leaves
// out is that of the version before only when the event is a link to it.
func artifactChanged(r *run, e *event) {
	a := r.artifact(e)
	p := e.payload
	uri, digest := e.text(p, "uri"), e.digest(p, "sha256")
	if e.kind == "artifact.updated" {
		a.uri, a.digest, a.withheld = uri, digest, ""
	} else {
		last(&a.uri, uri)
		last(&a.digest, digest)
	}
	if e.flag(p, "applied") {
		r.write(e, p, e.text(p, "tool_call_id"), fromArtifact)
	}
}

func artifactRedacted(r *run, e *event) {
	a := r.artifact(e)
	last(&a.digest, e.digest(e.payload, "sha256"))
	a.uri, a.withheld = "", "artifact redacted"
	if why := e.words(e.payload, "reason"); why != "" {
		a.withheld = why
	}
}

func (r *run) finalArtifacts() (list []receipt.Artifact, withheld []receipt.Redaction) {
	list = []receipt.Artifact{}
	for i, a := range r.artifacts.order {
		if a.withheld != "" {
			withheld = append(withheld, receipt.Redaction{Field: indexed("/final_artifacts", i) + "/uri", Reason: a.withheld})
		}
		list = append(list, receipt.Artifact{ArtifactID: a.id, Kind: a.kind, URI: a.uri, SHA256: a.digest})
	}
	return list, withheld
}

// compacted keeps the snapshot from which a transcript was cut: a replay needs it.
func compacted(r *run, e *event) {
	id := e.text(e.payload, "snapshot_asset_id")
	if id == "" {
		return
	}
	r.record(e, receipt.Material{Kind: "artifact", ID: id, URI: e.text(e.payload, "uri"), SHA256: e.digest(e.payload, "sha256")})
}

// record adds a material. What is used twice is told once; another content of the
// same id is numbered, as materials are named by their ids.
func (r *run) record(e *event, m receipt.Material) {
	content := [4]string{m.Kind, m.ID, m.URI, m.SHA256.String()}
	if r.recorded[content] > 0 {
		return
	}
	r.recorded[content]++
	id := [4]string{m.ID}
	if r.recorded[id]++; r.recorded[id] > 1 {
		m.ID += "#" + strconv.Itoa(r.recorded[id])
	}
	r.materials = append(r.materials, material{Material: m})
	r.charge(e, e.root, len(m.ID))
	r.room(e)
}

func memoryRead(r *run, e *event) {
	r.record(e, receipt.Material{Kind: "host_fact", ID: "memory:" + e.required(e.payload, "memory_id"), URI: e.text(e.payload, "uri"), SHA256: e.digest(e.payload, "sha256")})
}

func memoryWrite(r *run, e *event) {
	if !absent(e.payload.Member("artifact_id")) {
		artifactChanged(r, e)
		return
	}
	r.memoryWrites++
}
