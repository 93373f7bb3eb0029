// Package codex reads the logs of Codex: the rollouts that it writes for every session, and the
// stream that codex exec --json prints.
//
// docs/sources.md lists the values that these logs record. Neither format is stable, so unknown
// types and members are skipped and counted.
//
// # Rules
//
// Early rollouts contain the description of the session, followed by the items that Codex and the
// model exchanged. They are recognized by their first line (id, timestamp, instructions), by
// {"record_type":"state"} between items, or, if the rollout is a single object, by the members
// session and items. A single item is not sufficient to recognize a rollout. Early rollouts do not
// record times, the model, tokens, or the outcome.
//
// Tokens: the last cumulative total in a rollout is used. If totals decrease, the largest total is
// a lower bound. The total usage of a fork includes the usage of its parent. If the rollout of the
// parent is available, the difference is used; otherwise, the tokens are unreported. Tokens are
// also unreported if the rollout of a fork was appended to the rollout of another session. In codex
// exec --json, the count of a turn is the count of the thread, including runs that the stream does
// not contain. The last count of each thread is used; if no turn has a count, the tokens are
// unreported.
//
// Settings: Codex also writes thread_settings_applied when it opens a session again, so these lines
// belong to no turn, and their times are not used.
//
// Outcomes of calls: the first lines of an output contain "Exit code: N" or "Process exited with
// code N", or the output is JSON with an exit_code. Otherwise, the status is unreported, because
// "completed" is not an outcome. The answer to a request for additional permissions is not
// recorded, so no approval is recorded for it. The exception is an output that reports that the
// user rejected the request. Fixed texts also report that a rule refused a command, that a command
// did not start or was interrupted, and that a tool does not exist. The text of an MCP server's
// result is not interpreted. A web_search_call without a web_search_end is counted, and the list of
// calls is a lower bound.
//
// Executed commands: Codex itself records the actions that it executed, in exec_command_end,
// patch_apply_end, mcp_tool_call_end, and web_search_end, and in versions with paginated history
// (0.145 and later) in item_completed. Such a record contains the ID of the model's call, and its
// status takes precedence over the output. Calls that only Codex recorded are also listed. If a
// script in a call of the tool exec made another call, metadata.parent_call_id contains the ID of
// the script's call. A declined command or change is a denied approval, unless the approval policy
// is never or the reviewer is not the user. Granted approvals are not recorded.
//
// If the log of a subagent begins with lines of its parent (subagent_history_start_ordinal), these
// lines are not read, and the tokens that the parent had used by then are subtracted. The counts of
// a session with history_base start from the total of its parent at that line. If the log of the
// parent is missing, the tokens of the session are unreported.
//
// Outcome of the task: it is SUCCEEDED if all turns are complete, and CANCELED if the last turn was
// aborted. If a turn is open, or in versions without turns, the outcome is unreported. The turns of
// sessions that work for this session do not end the task.
//
// A review is a task: its turn ends with the turn around it. Commands that a person typed
// (user_shell) are counted, but not listed.
//
// Writes: patch_apply_end and items of type FileChange record the applied changes, with the content
// of added and deleted files. The applied changes take precedence over the text of the patch. If
// the changes and the text contain different files, all of these files are listed, and
// metadata.contradictions contains not_in_report. If there is only the patch, the content of added
// files is known, but not whether these files existed before. For changed files, only the path is
// known. If a successful change has an unreadable list of files, the list of writes is a lower
// bound.
//
// Other agents: spawn_agent, items of type CollabAgentToolCall and SubAgentActivity, and
// collab_tool_call are handoffs to the agents whose IDs they contain. If there are no IDs, no
// handoff is listed, and every list is a lower bound, because the work may not be in any log. The
// same applies to agent_message in a log without a handoff, and to a tool of this kind with an
// unknown name. A search for tools (tool_search_call) is not a call.
//
// IDs in codex exec are unique only within a turn, so in later turns, they are replaced with
// turn_N/ID.
//
// Repeated runs of codex exec: runs of the same thread can be distinguished only by their lines. A
// run extends from the line that names the thread, or from the start of the file, to the next such
// line. If the lines of a run are the beginning of another run, the run is a copy and is counted
// once (runs_told_again). A run with different lines is a new run, for example, the run of a
// resumed thread. A line is also a copy if it starts a turn while the open turn has no steps yet,
// or if it ends a turn again with the same text (turns_told_again). If no turn in repeated lines
// contains its usage, the lines may be a copy or a run that was stopped. The lists are then lower
// bounds, and if the log ends with such lines, the outcome is unreported.
package codex
