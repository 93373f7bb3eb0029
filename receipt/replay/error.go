package replay

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// A RequestError identifies the invalid part of a request. It contains no values from the request.
type RequestError struct {
	Param  string // such as override.llm:main:1.sha256; "body" for the entire request
	Detail string // what was expected and what was found
}

// Error returns both fields.
func (e *RequestError) Error() string { return "replay: " + e.Param + ": " + e.Detail }

// An UnavailableError identifies the first missing item, in event order, without which a task
// cannot be replayed.
type UnavailableError struct {
	Object  string // event, artifact, memory, receipt or host_dependency
	ID      string
	Key     string // key of the dependency, or ""
	EventID string // ID of the event that records it, or ""
	Detail  string
}

// unavailable returns the error for a recorded answer that is missing.
func unavailable(d record.Dependency) *UnavailableError {
	u := &UnavailableError{Object: "host_dependency", ID: d.Key, Key: d.Key, EventID: d.EventID, Detail: "the log has only the digest of the answer"}

	// The object is memory, an artifact, or any other dependency.
	switch {
	case strings.HasPrefix(d.Key, "host:memory:"):
		u.Object = "memory"
	case d.Kind == "artifact" || d.URI != "":
		u.Object, u.ID = "artifact", cmp.Or(d.URI, d.Key)
	}
	if d.SHA256.IsZero() {
		u.Detail = "the log has neither the answer nor its digest"
	}
	return u
}

// Error returns the item and the reason.
func (e *UnavailableError) Error() string {
	return fmt.Sprintf("replay: the %s %s is missing: %s", e.Object, quote(e.ID), e.Detail)
}

// named returns the item in the form used in the events of a failed replay.
func (e *UnavailableError) named() object {
	o := object{"object": text(e.Object), "id": text(untrusted.Cut(e.ID, maxNamed))}
	if e.Key != "" {
		o["override_key"] = text(untrusted.Cut(e.Key, maxNamed))
	}
	if e.EventID != "" {
		o["original_event_id"] = text(untrusted.Cut(e.EventID, maxNamed))
	}
	return o
}

// maxNamed is the maximum number of bytes of foreign text that a failure repeats.
const maxNamed = 1 << 10

// Checkpoint reports whether the checkpoint of the request is missing.
func (e *UnavailableError) Checkpoint() bool { return e.Object == "event" && e.Key == "" }

// A Mismatch is an override whose stated digest differs from that of its value.
type Mismatch struct {
	Key      string
	Stated   canon.Digest
	Computed canon.Digest
}

// Param names the member of the request in the same way as [RequestError.Param].
func (m Mismatch) Param() string { return "override." + m.Key + ".sha256" }

// Error returns both digests.
func (m Mismatch) Error() string {
	return fmt.Sprintf("replay: %s: stated %s, computed %s", m.Param(), m.Stated, m.Computed)
}

// quote truncates foreign text in a message.
func quote(s string) string { return untrusted.Quote(s, 64) }
