package bundle

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"

	"github.com/receiptkit/receiptkit/canon"
)

// Options specify how a run is exported. The zero Options create a sanitized bundle.
type Options struct {
	Mode Mode // "": Sanitized

	// Strict makes ReplayOnly also withhold input, output, stdout, stderr, message, and
	// visible_text_contains, and remove absolute paths from every string.
	Strict bool

	Attachments bool   // list the artifacts of the run a second time, as attachments
	ID          string // default: derived from the run record that the bundle will contain, see Export
	CreatedAt   string // RFC 3339; default: the end of the run, or its start if the end is unknown

	// Producer is the program that creates the bundle. An empty Name means receiptkit.
	Producer Producer

	// HarnVersion is the version of the harness that ran the agent. If it is empty,
	// metadata.harn_version in the record is used. If the record contains no version either, the
	// version is unreported.
	HarnVersion string
}

// A Producer is a program and its version.
type Producer struct{ Name, Version string }

const (
	schemaID     = "https://harnlang.com/schemas/session-bundle.v1.json"
	producerName = "receiptkit"
	unknown      = "unknown"
	formatNote   = "A portable copy of one run. Share sanitized or replay_only bundles, and no run records."
)

// Export creates a bundle from the run record that the harness wrote. The bytes of the record must
// not change while the result is in use. The same record and options produce the same bytes. The
// default ID is bundle_, followed by the first 32 hexadecimal digits of a SHA-256 digest. The
// digest is computed from the run record that [Import] extracts from the bundle, so the ID reveals
// nothing about removed data.
//
// Export reads only the record. It does not read the files that the record names, and it does not
// embed worker snapshots. Values that the record lacks are omitted if the format allows that;
// otherwise, they are listed in metadata.unreported. If the record has no
// transcript.metadata.workspace_anchor, the bundle has no workspace.
//
// The error is an *[OptionError], or an *[Error] about the record or the resulting bundle.
func Export(run []byte, o Options) (*Text, error) {
	doc, err := parse(run)
	if err != nil {
		return nil, err
	}
	r, err := prepared()
	if err != nil {
		return nil, err
	}

	// Invalid options and records are reported before the search for secrets.
	m, err := newManner(o.Mode, o.Strict)
	if err != nil {
		return nil, err
	}
	record := of(doc.Root())
	if wrong := checkRun(record); wrong != nil {
		return nil, wrong
	}
	if o.CreatedAt = cmp.Or(o.CreatedAt, said(record, "finished_at"), said(record, "started_at")); o.CreatedAt == "" {
		return nil, &OptionError{"CreatedAt", "is empty, and the record does not state when the run ended or began"}
	}

	// Each string in the record is searched only once, although most strings occur twice in the
	// bundle.
	found := newMarks(r.marker)
	if found.paths = m.strict; m.redacts() {
		found.search(doc.Root())
	}
	if o.ID == "" {
		if o.ID, err = idOf(record, m, found); err != nil {
			return nil, err
		}
	}

	// The manifest points to this list, which is filled during the walk.
	entries := new([]Entry)
	bundle := assemble(record, o, m, entries)
	if wrong := r.shape.check(bundle, []byte("$")); wrong != nil {
		return nil, wrong
	}
	return newText(&Text{root: bundle, listed: entries, manner: m, marks: found, shape: r.shape}, prior{})
}

const runType = "run_record"

// checkRun checks whether a record can be exported as a bundle.
func checkRun(r value) *Error {
	if r.kind() != canon.KindObject {
		return &Error{Malformed, "$", "expected a run record, an object; found " + typeOf(r)}
	}

	if t := r.member("_type"); !t.none() && string(t.content()) != runType {
		return &Error{InvalidType, "$._type", "expected " + runType}
	}

	for _, name := range []string{"id", "workflow_id", "task", "status"} {
		switch v := r.member(name); {
		case v.none():
			return &Error{Kind: MissingRequired, Path: "$." + name}
		case v.kind() != canon.KindString:
			return &Error{Malformed, "$." + name, "expected string, found " + typeOf(v)}
		}
	}

	// A value of another type would be exported as an empty list.
	for _, name := range []string{"stages", "artifacts", "child_runs", "tool_recordings", "hitl_questions", "transitions", "checkpoints", "trace_spans"} {
		if v := r.member(name); !absent(v) && v.kind() != canon.KindArray {
			return &Error{Malformed, "$." + name, "expected array, found " + typeOf(v)}
		}
	}
	return nil
}

// said returns the string value of a member, or "" if the member is not a string.
func said(v value, name string) string { return string(v.member(name).content()) }

func absent(v value) bool { return v.none() || v.kind() == canon.KindNull }

// idOf derives the ID of a bundle from the run record that the bundle will contain.
func idOf(record value, m manner, marks *marks) (string, error) {
	h := sha256.New()
	t := Text{root: record, manner: m, marks: marks}
	if _, err := t.WriteTo(h); err != nil {
		return "", err
	}
	return "bundle_" + hex.EncodeToString(h.Sum(nil)[:16]), nil
}

var _ io.WriterTo = (*Text)(nil)

// assemble returns a complete bundle, before any data is removed.
func assemble(r value, o Options, m manner, entries *[]Entry) value {
	a := assembly{run: r}
	attachments := list()
	if o.Attachments {
		attachments = listed(a.attachments)
	}

	// The members are in the order that the format specifies; object sorts them by name.
	return object(
		member{"_type", text(bundleType)},
		member{"schema_version", count(schemaVersion)},
		member{"bundle_id", text(o.ID)},
		member{"created_at", text(o.CreatedAt)},
		member{"producer", object(
			member{"name", text(cmp.Or(o.Producer.Name, producerName))},
			member{"version", text(cmp.Or(o.Producer.Version, unknown))},
			member{"schema_id", text(schemaID)},
		)},
		member{"source", a.source()},
		member{"runtime", a.runtime(o)},
		member{"workspace", a.workspace()},
		member{"transcript", object(member{"sections", list(a.sections()...)})},
		member{"tools", object(member{"schemas", list(a.toolSchemas()...)}, member{"calls", a.listOf("tool_recordings")})},
		member{"permissions", listed(a.permissions)},
		member{"replay", a.replay()},
		member{"redaction", manifest(m, entries)},
		member{"attachments", attachments},
		member{"metadata", a.metadata()},
	)
}
