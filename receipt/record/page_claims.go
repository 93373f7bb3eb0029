package record

import (
	"fmt"
	"io"
	"strings"
)

// pageClaims has ~ where the page has `.
const pageClaims = `
## What a draft claims

Nothing that no line of the log says. What several lines tell of one thing is joined: none
of them takes away what another tells.

| in the draft | what has to say so |
|---|---|
| ~tool_calls[]~ | a request, a result or a question about the call. A call that a line says was never dispatched (~parse_aborted~, ~rejected_loop~) is counted in ~metadata.not_dispatched~, unless another line says that it ran: ~executed~, a duration of its execution, ~in_progress~, a result, a file or a host of it |
| ~…/status~ | ~tool.completed~, ~tool.failed~, ~agent.tool_result~; a failure that any of them tells is kept. Without one: canceled, and unreported |
| ~…/input_hash~ | what ran: ~input~ of the result or of a request with ~executed~; else what the approver put in its place; else what was asked for. What was asked for otherwise is ~requested_input_hash~ |
| ~…/metadata~ | ~kind~, ~executor~, ~mutation_scope~, ~run_id~, ~worker_id~ of the call or of a question about it; ~declared_paths~ of the questions: announced, never ~fs_writes~ by themselves. ~writes_undeclared~: the scope allows writes, the call succeeded and nothing tells of one. ~raw_status~: a word that is in no table |
| ~approvals[]~ | an answer of the question's own session. Its input is that of the question, else the arguments so far; ~raw_decision~ in ~quorum_proof~ is a word that is in no table |
| ~fs_writes[]~ | a report of the call, a span of kind fs that completed, an artifact that is applied; in frames ~mutationStatus~ applied, whatever became of the call, or a completed edit, deletion or move that says nothing else |
| ~network_egress[]~ | a report of the call, a span of kind http, the URL of a remote MCP server unless the call was not made. The host is ~unknown~, and unreported, where readers of URLs do not agree on it |
| ~cost~ | spans of every kind, each once: an end that is told again in the same words is the same one; ~span.updated~ of kind usage, the account of the session so far: the last one counts, less what it was before the task. The larger of both is the total |
| ~model_route~ | ~task.submitted~, a span of a model that began or ended: kind llm in any case of letters, or another kind that names a model |
| ~replay_input.determinism~ | ~byte_deterministic~ only when every model, tool and host that said something, or was asked, is a material with a digest |

### Replays

Events that are told again from another task (~replay.source_task_id~ is not the task's own;
behind ~replay.started~ also ~replayed~ alone) give materials and times, and no deeds: no
calls, approvals, effects, artifacts or costs, and nothing consumed. What the replay says
without that mark it did itself. The log that is named is the source's, by
~source_log_sha256~, ~source_log_uri~ and ~source_log_events~ of ~replay.started~; without
its digest the material says ~unavailable~. Each override is one delta: an ~override_key~
counts on an event of any kind, and two substitutions of one key are refused. A hash in a
delta is a digest, null (nothing was there), or left out: not told, or of a secret. What
is told again without a ~replay.started~ is refused, and so is a ~replay.started~ of another
source, or one behind an event that is marked as ~replayed~ and says no more.

### What is said

A log of frames has every message by ~content_sha256~, the digest of its content: an array
of blocks in RFC 8785 form, texts that follow each other joined, so that it does not depend
on where a message was cut into chunks. Thoughts, plans, questions, answers, injected
messages, errors and contents of calls are there by digests, too.

### What is not told

The schema wants members that not every log tells. Their places are in ~metadata~, as JSON
Pointers, sorted:

| member | the places |
|---|---|
| ~unreported~ | not told, or not in full. What stands there is what the schema allows (0, ~unknown~, an empty list), or what was told of it |
| ~at_least~ | those of ~unreported~ that hold a sum or a list that was told in part, such as a total when one call of a model told no cost |
| ~at_most~ | numbers that hold what may not be the task's: calls that were asked for and of which nothing else is told, the account of a session that had earlier turns, a span that ended twice in other words, a turn, agent or task whose cost may be that of the calls in it once more |
| ~arguments_differ_from_approved~ | calls that ran with other arguments than any approval of them; the call has ~approved_input_hash~ beside its ~input_hash~ |

Unreported can be ~/cost/total~, ~/cost/provider_breakdown/N/~ ~amount~, ~provider~ and
tokens, ~/autonomy_budget/consumed/~ ~usd~ and tokens, ~/model_route/chosen_model~,
~/lifecycle/started_at~, ~/approvals/N/~ ~actor~, ~action~, ~decision~ (nobody decided, or with
no word for it) and ~decided_at~, ~/side_effects/fs_writes~, ~/side_effects/network_egress~
(a call may have run, and neither a list nor its kind nor its scope tells what it wrote or
sent), ~/side_effects/fs_writes/N/operation~, ~/side_effects/network_egress/N/~ ~destination~
and ~purpose~, ~/side_effects/network_egress/N~ (announced, and nothing tells whether it was
sent), ~/side_effects/tool_calls/N/~ ~tool~ and ~status~, ~/side_effects/a2a_handoffs/N/~
~target_agent~ and ~status~, ~/final_artifacts/N/kind~.

~metadata.contradictions~ lists what is told in two ways, each as ~{"at": POINTER, "what": …}~:

`

func writeClaims(w io.Writer) {
	fmt.Fprint(w, strings.ReplaceAll(pageClaims, "~", "`"))
	fmt.Fprint(w, "| what | means |\n|---|---|\n")
	for _, c := range contradictionWords() {
		fmt.Fprintf(w, "| `%s` | %s |\n", c.What, cell(c.Means))
	}
}
