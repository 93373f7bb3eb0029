package schemas_test

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// The table below lists the fields of receipt-2026-04-25. It is based on the format's own tables
// instead of the schema, so it is an oracle with which the schema must agree.
//
// Each line contains a path, ! if the field is required, ? if it is nullable, a type and, for the
// type "one", the allowed values. "closed" objects reject unknown members; "open" objects accept
// any member.
const fieldTable = `
	.                                       ! closed
	schema                                  ! one receipt-2026-04-25
	receipt_id                              ! text
	subject                                 ! closed
	subject.object                          ! one task outcome event artifact approval tool_call replay_segment
	subject.id                              ! text
	issuer                                  ! closed
	issuer.id                               ! text
	issuer.kind                             ! one harness host agent connector
	issuer.name                               text
	issuer.version                            text
	issuer.public_key_id                      text
	issued_at                               ! time
	identifiers                             ! closed
	identifiers.workspace_ref               ! text
	identifiers.session_id                  ! text
	identifiers.task_id                     ! text
	identifiers.tenant_id                     text
	identifiers.persona_ref                   text
	identifiers.branch_id                     text
	identifiers.trace_id                      text
	lifecycle                               ! closed
	lifecycle.created_at                      time
	lifecycle.started_at                    ! time
	lifecycle.completed_at                  ! time
	lifecycle.final_state                   ! one SUCCEEDED FAILED CANCELED
	lifecycle.failure                         ? open
	approvals                                 array
	approvals.0                               closed
	approvals.0.approval_id                   text
	approvals.0.actor                       ! text
	approvals.0.action                      ! text
	approvals.0.decision                    ! one approved denied canceled timeout
	approvals.0.decided_at                  ! time
	approvals.0.quorum_proof                  ? open
	approvals.0.evidence_hash                 digest
	trust                                   ! closed
	trust.start_tier                        ! one shadow suggest act_with_approval act_auto
	trust.end_tier                          ! one shadow suggest act_with_approval act_auto
	trust.policy_ref                          text
	autonomy_budget                         ! closed
	autonomy_budget.consumed                ! closed
	autonomy_budget.consumed.usd              amount
	autonomy_budget.consumed.input_tokens     count
	autonomy_budget.consumed.output_tokens    count
	autonomy_budget.consumed.tool_calls       count
	autonomy_budget.consumed.wall_time_ms     count
	autonomy_budget.limit                     closed
	autonomy_budget.limit.usd                 amount
	autonomy_budget.limit.input_tokens        count
	autonomy_budget.limit.output_tokens       count
	autonomy_budget.limit.tool_calls          count
	autonomy_budget.limit.wall_time_ms        count
	replay_input                            ! closed
	replay_input.determinism                ! one byte_deterministic best_effort unavailable
	replay_input.materials                  ! array
	replay_input.materials.0                  closed
	replay_input.materials.0.kind           ! one llm_provider_response mcp_tool_return event_log artifact host_fact
	replay_input.materials.0.id               text
	replay_input.materials.0.uri              text
	replay_input.materials.0.sha256           digest
	replay_input.materials.0.content_type     text
	replay_input.materials.0.bytes_base64     text
	replay_input.materials.0.metadata         open
	replay_input.unavailable_reason           text
	model_route                             ! closed
	model_route.chosen_model                ! closed
	model_route.chosen_model.provider       ! text
	model_route.chosen_model.model          ! text
	model_route.chosen_model.version          text
	model_route.chosen_model.reason           text
	model_route.alternatives_considered     ! array
	model_route.alternatives_considered.0     closed
	model_route.alternatives_considered.0.provider ! text
	model_route.alternatives_considered.0.model ! text
	model_route.alternatives_considered.0.version text
	model_route.alternatives_considered.0.reason  text
	model_route.route_policy_reason         ! text
	cost                                    ! closed
	cost.currency                           ! currency
	cost.total                              ! amount
	cost.provider_breakdown                 ! array
	cost.provider_breakdown.0                 closed
	cost.provider_breakdown.0.provider      ! text
	cost.provider_breakdown.0.model           text
	cost.provider_breakdown.0.amount        ! amount
	cost.provider_breakdown.0.input_tokens    count
	cost.provider_breakdown.0.output_tokens   count
	cost.provider_breakdown.0.metadata        open
	side_effects                            ! closed
	side_effects.fs_writes                  ! array
	side_effects.fs_writes.0                  closed
	side_effects.fs_writes.0.path           ! text
	side_effects.fs_writes.0.operation      ! one create modify delete rename
	side_effects.fs_writes.0.before_sha256    ? digest
	side_effects.fs_writes.0.after_sha256     ? digest
	side_effects.network_egress             ! array
	side_effects.network_egress.0             closed
	side_effects.network_egress.0.destination ! text
	side_effects.network_egress.0.purpose   ! text
	side_effects.network_egress.0.bytes_sent  count
	side_effects.network_egress.0.metadata    open
	side_effects.tool_calls                 ! array
	side_effects.tool_calls.0                 closed
	side_effects.tool_calls.0.tool          ! text
	side_effects.tool_calls.0.call_id       ! text
	side_effects.tool_calls.0.status        ! one succeeded failed canceled
	side_effects.tool_calls.0.input_hash      digest
	side_effects.tool_calls.0.output_hash     digest
	side_effects.tool_calls.0.metadata        open
	side_effects.a2a_handoffs               ! array
	side_effects.a2a_handoffs.0               closed
	side_effects.a2a_handoffs.0.target_agent ! text
	side_effects.a2a_handoffs.0.task_id     ! text
	side_effects.a2a_handoffs.0.status      ! one accepted rejected failed completed
	side_effects.a2a_handoffs.0.receipt_id    text
	final_artifacts                         ! array
	final_artifacts.0                         closed
	final_artifacts.0.artifact_id           ! text
	final_artifacts.0.kind                  ! text
	final_artifacts.0.uri                     text
	final_artifacts.0.sha256                  digest
	deltas                                    array
	deltas.0                                  closed
	deltas.0.delta_id                         text
	deltas.0.operation                      ! one add replace remove
	deltas.0.path                           ! text
	deltas.0.override_key                     text
	deltas.0.event_id                         text
	deltas.0.before_sha256                    ? digest
	deltas.0.after_sha256                     ? digest
	deltas.0.artifact_id                      text
	deltas.0.reason                           text
	chain                                   ! closed
	chain.previous_receipt_hash             ! ? digest
	chain.receipt_hash                      ! digest
	chain.merkle_root                         digest
	redactions                                array
	redactions.0                              closed
	redactions.0.field                      ! text
	redactions.0.reason                     ! text
	redactions.0.proof_hash                   digest
	signatures                                array
	signatures.0                              closed
	signatures.0.key_id                     ! text
	signatures.0.algorithm                  ! text
	signatures.0.signature                  ! text
	signatures.0.signed_at                    time
	metadata                                  open
`

type field struct {
	path     []string // "0" means the first element of an array
	required bool
	nullable bool
	typ      string
	values   []string // of "one"
}

func (f field) pointer() string {
	if len(f.path) == 0 {
		return ""
	}
	return "/" + strings.Join(f.path, "/")
}

func (f field) name() string     { return f.path[len(f.path)-1] }
func (f field) parent() []string { return f.path[:len(f.path)-1] }

func fields(t testing.TB) []field {
	t.Helper()
	var all []field
	for line := range strings.Lines(fieldTable) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		var f field
		if words[0] != "." {
			f.path = strings.Split(words[0], ".")
		}
		for _, w := range words[1:] {
			switch {
			case w == "!":
				f.required = true
			case w == "?":
				f.nullable = true
			case f.typ == "":
				f.typ = w
			default:
				f.values = append(f.values, w)
			}
		}
		all = append(all, f)
	}
	return all
}

func TestFieldTableCounts(t *testing.T) {
	var required, nullable, open, closed int
	for _, f := range fields(t) {
		if len(f.path) == 1 && f.required {
			required++
		}
		if f.nullable {
			nullable++
		}
		switch f.typ {
		case "open":
			open++
		case "closed":
			closed++
		}
	}
	if required != 15 || nullable != 7 || open != 7 || closed != 27 {
		t.Errorf("required %d, nullable %d, open %d, closed %d; the format has 15, 7, 7 and 27", required, nullable, open, closed)
	}
}

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// samples contains values that are tried in every field. Numbers keep their spelling.
var samples = []any{
	nil, true, false,
	number("0"), number("-0"), number("1"), number("1.0"), number("1e2"), number("1.0000000000000000001"),
	number("1.5"), number("1e-7"), number("-1"), number("-0.5"), number("9007199254740991"), number("1e300"),
	"", "x", "😀", "\u0000", "null",
	digest, digest + "\n", " " + digest, strings.ToUpper(digest), "sha256:" + strings.ToUpper(digest[7:]),
	digest[7:], digest[:70], digest + "0", "sha512" + digest[6:],
	"USD", "XTS", "usd", "US", "USDX", "USD\n", "US1", "ÜSD",
	"2026-04-25T19:17:33Z", "2026-04-25t19:17:33z", "2026-04-25T19:17:33.5+02:00", "2016-12-31T23:59:60Z",
	"2026-04-25", "2026-02-30T00:00:00Z", "2026-04-25T24:00:00Z", "2026-04-25T19:17:33", "yesterday", "2026-04-25T19:17:33Z\n",
	"task", "Task", "task ", "harness", "SUCCEEDED", "succeeded", "approved", "act_auto", "artifact", "create", "add", "accepted",
	"best_effort", "receipt-2026-04-25", "receipt-2026-04-26",
	[]any{}, []any{nil}, []any{"x"}, []any{number("1")},
	map[string]any{}, map[string]any{"unknown": nil},
}

// accepts is the oracle. It reports whether a sample value is valid in a field.
func accepts(all []field, f field, v any) bool {
	switch v := v.(type) {
	case nil:
		return f.nullable
	case number:
		value := v.float()
		return f.typ == "amount" && value >= 0 || f.typ == "count" && value >= 0 && value == math.Trunc(value)
	case string:
		return acceptsText(f, v)
	case []any:
		return f.typ == "array" && len(v) == 0 // the elements of every array in the format are closed objects
	case map[string]any:
		return f.typ == "open" || f.typ == "closed" && len(v) == 0 && !requiresAny(all, f)
	}
	return false
}

var (
	digestText   = regexp.MustCompile(`\Asha256:[0-9a-f]{64}\z`)
	currencyText = regexp.MustCompile(`\A[A-Z][A-Z][A-Z]\z`)
)

func acceptsText(f field, s string) bool {
	switch f.typ {
	case "text":
		return s != ""
	case "digest":
		return digestText.MatchString(s)
	case "currency":
		return currencyText.MatchString(s)
	case "one":
		return slices.Contains(f.values, s)
	case "time":
		if s == "2016-12-31T23:59:60Z" { // package time does not support leap seconds
			return true
		}
		_, err := time.Parse(time.RFC3339, strings.ToUpper(s))
		return err == nil
	}
	return false
}

func requiresAny(all []field, object field) bool {
	// A replay material must also have one of three combinations of members.
	return slices.ContainsFunc(all, func(f field) bool {
		return len(f.path) == len(object.path)+1 && f.required && slices.Equal(f.parent(), object.path)
	})
}

// fullReceipt returns a receipt with every member in the table.
func fullReceipt(t testing.TB) map[string]any {
	t.Helper()
	root := map[string]any{}
	for _, f := range fields(t)[1:] {
		root = put(root, f.path, example(f)).(map[string]any)
	}
	return root
}

func example(f field) any {
	switch f.typ {
	case "closed", "open":
		return map[string]any{}
	case "array":
		return []any{}
	case "one":
		return f.values[0]
	case "time":
		return "2026-04-25T19:17:33Z"
	case "digest":
		return digest
	case "currency":
		return "USD"
	case "amount", "count":
		return number("0")
	}
	return "x"
}

// put returns a copy of tree with v at path. The parent of path must exist.
func put(tree any, path []string, v any) any {
	if len(path) == 0 {
		return v
	}
	switch tree := tree.(type) {
	case map[string]any:
		tree = maps.Clone(tree)
		tree[path[0]] = put(tree[path[0]], path[1:], v)
		return tree
	case []any:
		if len(tree) == 0 {
			tree = []any{nil}
		}
		return []any{put(tree[0], path[1:], v)}
	}
	panic("no parent for " + strings.Join(path, "."))
}

// drop returns a copy of tree without the member or element at path.
func drop(tree any, path []string) any {
	switch tree := tree.(type) {
	case map[string]any:
		tree = maps.Clone(tree)
		if len(path) == 1 {
			delete(tree, path[0])
		} else {
			tree[path[0]] = drop(tree[path[0]], path[1:])
		}
		return tree
	case []any:
		if len(path) == 1 {
			return []any{}
		}
		return []any{drop(tree[0], path[1:])}
	}
	panic("nothing at " + strings.Join(path, "."))
}
