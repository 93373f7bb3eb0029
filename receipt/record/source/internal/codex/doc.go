// Package codex reads the logs of Codex: rollouts, which it keeps of every session, and the
// stream of codex exec --json.
//
// docs/sources.md lists their statements. Neither format is a contract, so unknown types and
// members are skipped and counted.
//
// # Rules
//
// Early rollouts state the session, followed by the items that Codex and the model exchanged. They
// are recognized by their first line (id, timestamp, instructions), by {"record_type":"state"}
// between items, or as an object with session and items. A single item is not recognized. They
// record neither times, model, tokens, nor outcome.
//
// Tokens: the last running total of a rollout counts. If totals shrink, the largest is a lower
// bound. The total of a fork includes its parent's: with the parent's rollout, the difference
// counts; without it, the tokens are unreported. They are also unreported if the rollout of a fork
// was appended to that of another session. In codex exec --json, the counts of the turns are added;
// if no turn has one, tokens are unreported.
//
// Outcomes of calls: the first lines of an output state Exit code: N or Process exited with code N,
// or the output is JSON with an exit_code. Otherwise the status is unreported, because completed is
// not an outcome. A request for more rights is not an approval, because the answer is not recorded,
// unless the output states that the user rejected it. The text of an MCP server's result is not
// interpreted. A web_search_call without a web_search_end is counted, and the list of calls is a
// lower bound.
//
// Executed commands: Codex itself records what it ran, in exec_command_end, patch_apply_end,
// mcp_tool_call_end, and web_search_end, and in versions with paginated history (0.145 and later)
// in item_completed. Such a record names the model's call by its ID, and its status takes
// precedence over the output. Calls that only Codex recorded are listed too. If a script of the
// tool exec made a call, metadata.parent_call_id names the script's call. A declined command or
// change is a denied approval, unless the approval policy is never or the reviewer is not the user.
// Granted approvals are not recorded.
//
// Lines of the parent at the beginning of a subagent's log are not read
// (subagent_history_start_ordinal), and the parent's tokens until then are subtracted. A session
// with history_base counts from its parent's total at that line; without the parent's log, its
// tokens are unreported.
//
// Outcome of the task: SUCCEEDED if all turns are complete, CANCELED if the last was aborted. With
// an open turn, or in versions without turns, it is unreported. Turns of sessions that work for
// this one do not end it.
//
// Writes: patch_apply_end and items of type FileChange state the applied changes, with the content
// of added and deleted files. They take precedence over the text of the patch. If both name
// different files, both are listed, and metadata.contradictions has not_in_report. With only the
// patch, the content of added files is known, but not whether a file existed before, and for
// changed files only the path. A successful change with an unreadable list of files makes the
// writes a lower bound.
//
// Other agents: spawn_agent, items of type CollabAgentToolCall and SubAgentActivity, and
// collab_tool_call are handoffs to the agents whose IDs they name. Without IDs, none is listed, and
// every list is a lower bound, because the work may be in no log. The same applies to agent_message
// in a log without a handoff, and to a tool of this kind with an unknown name. A search for tools
// (tool_search_call) is not a call.
//
// IDs of codex exec are unique within a turn: those of later turns are turn_N/ID.
//
// Repeated runs of codex exec: only its lines distinguish a run from another one of the same
// thread. A run extends from the line that names the thread, or the start of the file, to the next
// such line. A run whose lines are the beginning of another run is a copy and counts once
// (runs_told_again). A run with different lines is a new one, for example of a resumed thread. A
// line that starts a turn without any steps so far, or that ends a turn again in the same words, is
// also a copy (turns_told_again). Lines in which no turn states its usage may be a copy or a run
// that was stopped; the lists are then lower bounds, and if such lines are last, the outcome is
// unreported.
package codex
