// Package claude reads the logs of Claude Code: the transcripts that it writes for every session,
// and the stream that it prints with --output-format stream-json.
//
// docs/sources.md lists the values that these logs record. Neither format is stable, so unknown
// types and members are skipped and counted.
//
// # Rules
//
// Tokens: a message has one line per block, and each line repeats the usage. For each message ID,
// the line with the most output tokens in any file determines the usage. Input is the sum of
// input_tokens, cache_read_input_tokens, and cache_creation_input_tokens. In a stream, the last
// result.modelUsage of a session is the complete usage. If it is absent, result.usage is a lower
// bound, because it omits subagents. If there is no result, the usage stated in the lines is a
// lower bound. Usage that is smaller than earlier usage belongs to a different process. In that
// case, the largest usage is a lower bound. A line without a session belongs to the session of the
// previous line. A repeated result is counted once.
//
// Subagents: while a subagent works, its session repeats the messages and calls of the subagent
// (agent_progress, until 2.1.204), which are also stored in a file of the subagent. Each message
// and call is counted once, and the file of the subagent takes precedence, because it also contains
// file contents. If the file is absent, the repeated calls are listed. The list is complete if
// their number equals totalToolUseCount; in that case, only the tokens are a lower bound.
// Otherwise, or if no line records which subagent received the work, /side_effects/tool_calls is
// unreported, and a note names the subagent. Tokens in a file named agent-acompact-ID (a
// compaction) are included, but the compaction is not a handoff.
//
// Outcomes of calls: is_error means failure, except for a refusal by a person, an interruption, and
// the text "Sibling tool call errored". A call with this text was never executed: its status is
// canceled (sibling_failed), and consumed.tool_calls omits it. Streams list refused calls in
// permission_denials. Since version 2.1.205, transcripts contain the kind of refusal in
// toolDenialKind. user-rejected is a denied approval, unless permissionDecision states that a rule
// of the configuration refused the call. A call is canceled if the kind is interrupted or cancelled, or
// if permissionDecision states that the call was accepted. Other kinds are refusals without a
// person. If toolDenialAfterRun is set, the call was executed, and is_error applies.
//
// Refused MCP tools: an MCP server could itself write the text of a refusal. If the log records
// which calls were executed (progress/mcp_progress with status started), a call with such text was
// denied if it was not executed, and failed if it was executed. If the log does not record this for
// any call, the status is unreported, and consumed.tool_calls is an upper bound (metadata.at_most).
//
// Details of calls: tool_calls[].metadata contains the exit_code of a failed command, and
// git_actions (commit, push, branch, pull request) if the line records them. Git actions and test
// runs that appear only in the text of a command are in read_from_command. These are only hints,
// because the command may have failed or done something else.
//
// Cost: cost-state (since about 2.1.300) is not read, because it states the cost of the entire
// session since its first start, and not the cost of a task.
//
// Prompts and links: metadata.source.prompts contains the number of prompts, and the SHA-256 of the
// JSON array of their contents (RFC 8785). Links to pull requests and published pages are
// final_artifacts.
//
// Outcome of the task: it is SUCCEEDED if the last line of the model stopped with end_turn, or if a
// later line indicates the end of the turn (turn_duration, stop_hook_summary, or a run of a Stop
// hook). The log records only the end of a turn, so metadata.inferred lists /lifecycle/final_state.
// The outcome is CANCELED if a person interrupted the task and no model wrote anything afterward.
// In a stream, the last result specifies the outcome. Otherwise, or if the last request received no
// answer or only an API error, the outcome is unreported.
//
// Writes: an edit is applied to the content that the line records. Digests are recorded only if the
// result matches the patch in the line. Digests that cannot be computed from any line are
// unreported. An edit that removes text also removes the newline that follows it. Newer versions
// record the content of notebooks before and after an edit. Digests cover the UTF-8 text in the
// log, so a file in a different encoding, or with a byte order mark, has a different digest.
//
// Write continuity: if a write to a path does not start from the content that the previous write
// left, something else changed the file. metadata.write_continuity counts the pairs of successive
// writes, and lists the differing pairs in changed_outside. Such a change is not necessarily
// tampering, because formatters that run as hooks also cause changes. metadata.source.hooks lists
// the hooks that ran, by event and tool. Lines record a hook while it runs, when it ends
// (attachment), or at the end of a turn; the most complete record is used.
package claude
