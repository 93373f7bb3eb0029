package replay

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// A RequestError describes an invalid part of a request. It contains no values from the request.
type RequestError struct {
	Param  string // for example override.llm:main:1.sha256; "body" for the entire request
	Detail string // what was expected and what was found
}

// Error returns both fields, separated by a colon.
func (e *RequestError) Error() string { return "replay: " + e.Param + ": " + e.Detail }

// An UnavailableError describes the first item, in event order, that a replay needs but that is not
// available.
type UnavailableError struct {
	Object  string // event, artifact, memory, receipt, or host_dependency
	ID      string
	Key     string // key of the dependency, or ""
	EventID string // ID of the event that records the item, or ""
	Detail  string
}

// unavailable returns the error for a missing recorded answer.
func unavailable(d record.Dependency) *UnavailableError {
	u := &UnavailableError{Object: "host_dependency", ID: d.Key, Key: d.Key, EventID: d.EventID, Detail: "the log has only the digest of the answer"}

	// The object is memory, an artifact, or another dependency.
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

// named returns the missing item as an object for the events of a failed replay.
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

// maxNamed is the maximum length, in bytes, of an ID or a key in the events of a failed replay.
const maxNamed = 1 << 10

// Checkpoint reports whether the missing item is the checkpoint of the request.
func (e *UnavailableError) Checkpoint() bool { return e.Object == "event" && e.Key == "" }

// A Mismatch is an override whose stated digest differs from the digest of its value.
type Mismatch struct {
	Key      string
	Stated   canon.Digest
	Computed canon.Digest
}

// Param returns the name of the member in the request, in the same form as [RequestError.Param].
func (m Mismatch) Param() string { return "override." + m.Key + ".sha256" }

// Error returns the stated and the computed digest.
func (m Mismatch) Error() string {
	return fmt.Sprintf("replay: %s: stated %s, computed %s", m.Param(), m.Stated, m.Computed)
}

// quote quotes and truncates untrusted text in a message.
func quote(s string) string { return untrusted.Quote(s, 64) }
