package record

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

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
