package bundle

import (
	"slices"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// Import returns a run record from a bundle, which must pass [Check]. If the bundle contains a
// record, Import returns that record, and adds the bundle's observability data if the record has
// none. Otherwise, Import uses a replay fixture and the transcript to create the smallest record
// that can be replayed. The record contains the messages of the first section, the calls and
// questions, and the transitions, checkpoints, and spans, but no stages. Its metadata identifies
// the bundle.
//
// If the bundle contains neither a run record nor both a replay fixture and a transcript, the error
// is an *[Error] of kind NoRunRecord that lists the missing parts. Paths in the record are not
// checked. They may refer to another machine, or they may be placeholders.
func Import(b *Bundle, m Markers) (*Text, error) {
	r, err := prepared()
	if err != nil {
		return nil, err
	}
	found := newMarks(r.marker)
	if _, err := check(r, b, m, found); err != nil {
		return nil, err
	}

	record, err := importable(b.root())
	if err != nil {
		return nil, err
	}
	return newText(&Text{root: record, manner: manner{mode: Local}, marks: found}, prior{})
}

// importable returns the run record that Import extracts from a bundle.
func importable(root value) (value, error) {
	// An embedded record is used unchanged, except that the bundle's observability is added if the
	// record has none.
	replay := root.member("replay")
	if record := replay.member("run_record"); record.kind() == canon.KindObject {
		other := replay.member("observability")
		if other.kind() == canon.KindObject && absent(record.member("observability")) {
			record = with(record, "observability", other)
		}
		return record, nil
	}

	// If there is no record, both a replay fixture and a transcript are required.
	var missing []string
	if replay.member("replay_fixture").kind() != canon.KindObject {
		missing = append(missing, "$.replay.replay_fixture")
	}
	if root.member("transcript").member("sections").child(0).none() {
		missing = append(missing, "$.transcript.sections")
	}
	if missing != nil {
		return value{}, &Error{NoRunRecord, "$.replay.run_record", "it is not there, and neither is " + strings.Join(missing, " or ")}
	}
	return reconstructed(root), nil
}

// reconstructed returns the smallest record that can be replayed.
func reconstructed(root value) value {
	source, replay, section := root.member("source"), root.member("replay"), root.member("transcript").member("sections").child(0)
	var questions []value
	for _, p := range root.member("permissions").each {
		if string(p.member("kind").content()) == hitlQuestion && !p.member("payload").none() {
			questions = append(questions, p.member("payload"))
		}
	}

	// Snapshots are not imported, but metadata contains their number.
	snapshots := 0
	for range replay.member("worker_snapshots").each {
		snapshots++
	}

	// These members have the same name in both formats.
	members := slices.Concat(
		some(source, "workflow_id", "workflow_name", "task", "status", "started_at", "finished_at", "root_run_id", "parent_run_id"),
		some(replay, "transitions", "checkpoints", "trace_spans", "replay_fixture", "observability"),
		some(root.member("runtime"), "usage"))

	// A list that a record requires but the bundle lacks is empty.
	for _, name := range []string{"stages", "artifacts", "handoffs", "child_runs", "pending_nodes", "completed_nodes"} {
		members = append(members, member{name, list()})
	}

	transcript := append(some(section, "messages", "events", "assets", "summary", "metadata"), member{"_type", text("transcript")})
	return object(append(members,
		member{"_type", text(runType)},
		member{"id", source.member("run_record_id")},
		member{"policy", object()},
		member{"transcript", object(transcript...)},
		member{"tool_recordings", root.member("tools").member("calls")},
		member{"hitl_questions", list(questions...)},
		member{"metadata", object(
			member{"imported_from_session_bundle", root.member("bundle_id")},
			member{"session_bundle_schema_version", root.member("schema_version")},
			member{"worker_snapshot_count", count(snapshots)},
		)},
	)...)
}

func count(n int) value { return literal(canon.KindNumber, strconv.Itoa(n)) }
