package bundle

import (
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// Import returns a run record of a bundle that [Check] does not refuse: the one that is
// embedded, with the bundle's observability where it has none; or, of a replay fixture and the
// transcript, the smallest one that replays: what was said in the first section, the calls and
// questions, the transitions, checkpoints and spans, and no stages. metadata then names the
// bundle that it was made of.
//
// Without a run record, and without a fixture or a transcript, there is none to import: an
// *[Error] of the kind NoRunRecord says what is missing. Paths that the record names are not
// looked at, and may be another machine's, or placeholders.
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

// importable is the record of a bundle.
func importable(root value) (value, error) {
	replay := root.member("replay")
	if record := replay.member("run_record"); record.kind() == canon.KindObject {
		own, other := record.member("observability"), replay.member("observability")
		if other.kind() == canon.KindObject && (own.none() || own.kind() == canon.KindNull) {
			record = with(record, "observability", other)
		}
		return record, nil
	}

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

// reconstructed is the smallest record that replays.
func reconstructed(root value) value {
	source, replay, section := root.member("source"), root.member("replay"), root.member("transcript").member("sections").child(0)
	var questions []value
	for _, p := range root.member("permissions").each {
		if string(p.member("kind").content()) == hitlQuestion && !p.member("payload").none() {
			questions = append(questions, p.member("payload"))
		}
	}
	snapshots := 0
	for range replay.member("worker_snapshots").each {
		snapshots++
	}

	return object(
		member{"_type", text(runType)},
		member{"id", source.member("run_record_id")},
		member{"workflow_id", source.member("workflow_id")},
		member{"workflow_name", source.member("workflow_name")},
		member{"task", source.member("task")},
		member{"status", source.member("status")},
		member{"started_at", source.member("started_at")},
		member{"finished_at", source.member("finished_at")},
		member{"root_run_id", source.member("root_run_id")},
		member{"parent_run_id", source.member("parent_run_id")},
		member{"stages", list()}, member{"artifacts", list()}, member{"handoffs", list()}, member{"child_runs", list()},
		member{"pending_nodes", list()}, member{"completed_nodes", list()}, member{"policy", object()},
		member{"transcript", object(
			member{"_type", text("transcript")},
			member{"messages", section.member("messages")}, member{"events", section.member("events")},
			member{"assets", section.member("assets")}, member{"summary", section.member("summary")}, member{"metadata", section.member("metadata")},
		)},
		member{"transitions", replay.member("transitions")},
		member{"checkpoints", replay.member("checkpoints")},
		member{"trace_spans", replay.member("trace_spans")},
		member{"tool_recordings", root.member("tools").member("calls")},
		member{"hitl_questions", list(questions...)},
		member{"usage", root.member("runtime").member("usage")},
		member{"replay_fixture", replay.member("replay_fixture")},
		member{"observability", replay.member("observability")},
		member{"metadata", object(
			member{"imported_from_session_bundle", root.member("bundle_id")},
			member{"session_bundle_schema_version", root.member("schema_version")},
			member{"worker_snapshot_count", count(snapshots)},
		)},
	)
}

func count(n int) value { return literal(canon.KindNumber, strconv.Itoa(n)) }
