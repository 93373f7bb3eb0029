package bundle

import (
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// An assembly collects the parts of a bundle from a run record.
type assembly struct {
	run        value
	unreported []string // JSON Pointers of members that the format requires but the record lacks
}

// These are the JSON Pointers that unreported can contain.
const untoldVersion, untoldModels = "/runtime/harn_version", "/runtime/provider_models"

// some returns the named members of a value.
func some(v value, names ...string) (members []member) {
	for _, name := range names {
		members = append(members, member{name, v.member(name)})
	}
	return members
}

// listOf returns a list from the record, or an empty list if the record has no such list.
func (a *assembly) listOf(name string) value {
	if v := a.run.member(name); !absent(v) {
		return v
	}
	return list()
}

func (a *assembly) source() value {
	children := 0
	for range a.run.member("child_runs").each {
		children++
	}
	return object(append(some(a.run, "workflow_id", "workflow_name", "task", "status", "started_at", "finished_at", "persisted_path", "root_run_id", "parent_run_id"),
		member{"kind", text(runType)},
		member{"run_record_id", a.run.member("id")},
		member{"child_run_count", count(children)},
	)...)
}

func (a *assembly) runtime(o Options) value {
	// The HarnVersion option takes precedence over the version in the record. If both are absent,
	// the version is listed as unreported.
	version := text(o.HarnVersion)
	if o.HarnVersion == "" {
		if version = a.run.member("metadata").member("harn_version"); version.kind() != canon.KindString {
			version = text(unknown)
			a.unreported = append(a.unreported, untoldVersion)
		}
	}

	usage := a.run.member("usage")
	models := usage.member("models")
	if absent(models) {
		models = list()
		a.unreported = append(a.unreported, untoldModels)
	}
	return object(
		member{"harn_version", version}, member{"provider_models", models}, member{"usage", usage}, member{"metadata", object()},
	)
}

// workspace returns the anchor that ties the run to a workspace.
func (a *assembly) workspace() value {
	anchor := a.run.member("transcript").member("metadata").member("workspace_anchor")
	if anchor.kind() != canon.KindObject {
		return value{}
	}

	// A root without a mount mode is read_only.
	roots := []value{}
	for _, root := range anchor.member("additional_roots").each {
		mode := root.member("mount_mode")
		if absent(mode) {
			mode = text("read_only")
		}
		roots = append(roots, object(append(some(root, "path", "mounted_at"), member{"mount_mode", mode})...))
	}
	return object(append(some(anchor, "primary", "anchored_at"),
		member{"additional_roots", list(roots...)}, member{"policy", text("safe_identity_only")})...)
}

// A spoken value is a transcript from the record, together with its location.
type spoken struct {
	id, label, scope, location string
	source                     string // the source stated in entries for this transcript
	transcript                 value
}

// transcripts returns the transcripts of the run and of its stages.
func (a *assembly) transcripts() (found []spoken) {
	if t := a.run.member("transcript"); t.kind() == canon.KindObject {
		found = append(found, spoken{"run", "Run transcript", "run", "$.transcript", "run.transcript", t})
	}
	for i, stage := range a.run.member("stages").each {
		if t := stage.member("transcript"); t.kind() == canon.KindObject {
			node := said(stage, "node_id")
			found = append(found, spoken{
				said(stage, "id"), "Stage " + node, "stage", "$.stages[" + strconv.Itoa(i) + "].transcript", "stage." + node + ".transcript", t,
			})
		}
	}
	return found
}

func (a *assembly) sections() (sections []value) {
	for _, s := range a.transcripts() {
		summary := s.transcript.member("summary")
		if summary.kind() != canon.KindString {
			summary = literal(canon.KindNull, "null")
		}
		members := []member{
			{"id", text(s.id)}, {"label", text(s.label)}, {"scope", text(s.scope)}, {"location", text(s.location)}, {"summary", summary},
		}

		// The format requires these three lists.
		for _, name := range []string{"messages", "events", "assets"} {
			v := s.transcript.member(name)
			if v.kind() != canon.KindArray {
				v = list()
			}
			members = append(members, member{name, v})
		}

		metadata := s.transcript.member("metadata")
		if metadata.kind() != canon.KindObject {
			metadata = object()
		}
		sections = append(sections, object(append(members, member{"metadata", metadata})...))
	}
	return sections
}

// kindOf returns the type of a transcript event, or its kind if it has no type.
func kindOf(event value) string {
	if t := event.member("type"); !t.none() {
		return string(t.content())
	}
	return said(event, "kind")
}

// toolSchemas returns the tool schemas in the transcripts and in the metadata of the stages.
func (a *assembly) toolSchemas() (entries []value) {
	add := func(source string, v value) {
		entries = append(entries, object(member{"source", text(source)}, member{"index", count(len(entries))}, member{"value", v}))
	}
	fromEvents := func(s spoken) {
		for _, event := range s.transcript.member("events").each {
			if kind := kindOf(event); kind == "tool_schemas" || kind == "tool_schema" {
				add(s.source, event)
			}
		}
	}

	// The schemas in the run's transcript come first, followed by those in each stage's transcript
	// and metadata.
	spoken := a.transcripts()
	if len(spoken) > 0 && spoken[0].scope == "run" {
		fromEvents(spoken[0])
		spoken = spoken[1:]
	}
	for i, stage := range a.run.member("stages").each {
		if at := "$.stages[" + strconv.Itoa(i) + "].transcript"; len(spoken) > 0 && spoken[0].location == at {
			fromEvents(spoken[0])
			spoken = spoken[1:]
		}
		tools := stage.member("metadata").member("tool_schemas")
		if tools.none() {
			tools = stage.member("metadata").member("tools")
		}
		if !tools.none() {
			add("stage."+said(stage, "node_id")+".metadata", tools)
		}
	}
	return entries
}

const hitlQuestion = "hitl_question"

// permissions yields the questions to people, the permission events in transcripts, and the
// approval policies of workers, in this order.
func (a *assembly) permissions(yield func(value) bool) {
	for _, q := range a.run.member("hitl_questions").each {
		if !yield(permission(hitlQuestion, "run.hitl_questions", q.member("request_id"), q.member("agent"), q)) {
			return
		}
	}
	for _, s := range a.transcripts() {
		for _, event := range s.transcript.member("events").each {
			kind := kindOf(event)
			if !strings.Contains(kind, "permission") && !strings.Contains(kind, "approval") && !strings.HasPrefix(kind, "hitl_") {
				continue
			}
			id := event.member("request_id")
			if id.none() {
				id = event.member("id")
			}
			if !yield(permission(kind, s.source, id, event.member("agent"), event)) {
				return
			}
		}
	}
	for _, stage := range a.run.member("stages").each {
		worker := stage.member("metadata").member("worker")
		policy := worker.member("audit").member("approval_policy")
		if !policy.none() && !yield(permission("approval_policy", "stage."+said(stage, "node_id")+".worker.audit", value{}, worker.member("name"), policy)) {
			return
		}
	}
}

func permission(kind, source string, id, agent, payload value) value {
	members := []member{{"kind", text(kind)}, {"source", text(source)}, {"payload", payload}}
	if id.kind() == canon.KindString {
		members = append(members, member{"request_id", id})
	}
	if len(agent.content()) > 0 {
		members = append(members, member{"agent", agent})
	}
	return object(members...)
}

// replay returns the data for a replay, including the run record itself.
func (a *assembly) replay() value {
	spans := a.run.member("trace_spans")
	if absent(spans) {
		spans = a.run.member("evidence").member("trace_spans")
	}
	if absent(spans) {
		spans = list()
	}

	observability := a.run.member("observability")
	return object(
		member{"run_record", a.run},
		member{"replay_fixture", a.run.member("replay_fixture")},
		member{"observability", observability},
		member{"verification_outcomes", observability.member("verification_outcomes")},
		member{"event_log_pointers", list(a.pointers(observability)...)},
		member{"transitions", a.listOf("transitions")},
		member{"checkpoints", a.listOf("checkpoints")},
		member{"trace_spans", spans},
		member{"deterministic_events", listed(a.deterministic)},
	)
}

// deterministic yields the transitions, followed by the checkpoints.
func (a *assembly) deterministic(yield func(value) bool) {
	for _, source := range []string{"transitions", "checkpoints"} {
		for i, v := range a.run.member(source).each {
			if !yield(object(member{"source", text("run." + source)}, member{"index", count(i)}, member{"value", v})) {
				return
			}
		}
	}
}

// pointers returns the locations of the run's log and its workers' logs.
func (a *assembly) pointers(observability value) (found []value) {
	for _, p := range observability.member(transcriptPointers).each {
		found = append(found, object(some(p, "kind", "topic", "path", "location", "available")...))
	}

	// Each worker's log is identified by the worker's session.
	for _, w := range observability.member("worker_lineage").each {
		session := w.member("session_id")
		if session.kind() != canon.KindString {
			continue
		}

		// If a worker has no snapshot, its log is not available.
		path, available := w.member("snapshot_path"), "true"
		if absent(path) {
			available = "false"
		}
		found = append(found, object(
			member{"kind", text("agent_events")},
			member{"topic", text("observability.agent_events." + string(session.content()))},
			member{"path", path},
			member{"location", text("worker." + said(w, "worker_id") + ".session")},
			member{"available", literal(canon.KindBool, available)},
		))
	}
	return found
}

// attachments yields the artifacts of the run a second time, as attachments.
func (a *assembly) attachments(yield func(value) bool) {
	for _, artifact := range a.run.member("artifacts").each {
		if !yield(object(some(artifact, "id", "kind", "title", "stage", "text", "data", "metadata")...)) {
			return
		}
	}
}

func (a *assembly) metadata() value {
	members := []member{{"format_note", text(formatNote)}}
	if a.unreported != nil {
		var pointers []value
		for _, p := range a.unreported {
			pointers = append(pointers, text(p))
		}
		members = append(members, member{"unreported", list(pointers...)})
	}
	return object(members...)
}
