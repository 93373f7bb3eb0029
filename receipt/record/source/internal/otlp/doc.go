// Package otlp reads agent telemetry in OTLP/JSON: spans that follow the GenAI conventions of
// OpenTelemetry or those of OpenInference, and the events in which Claude Code and Codex state
// decisions about calls and their results.
//
// Exporters write IDs in hexadecimal digits or in base64, numbers as strings, and enums by number
// or by name. A file contains one object per line, a single object, or an array. All of these forms
// are read. docs/sources.md lists the values that they state.
//
// # Rules
//
// Unread spans: a span that follows an agent convention (gen_ai., llm., openinference., traceloop.,
// langfuse., mcp., ai., tool.; claude_code., codex.) but has none of the types in docs/sources.md
// is not read, unless its type states no action. The same applies to spans with an invalid or
// contradictory type, containers without their list, and unknown members that are lists or objects.
// Attributes that only name an agent or a session do not count, because exporters add them to all
// spans.
//
// If spans for one model call are nested, only the innermost span counts, unless a tool or an agent
// is between them. If an agent used more tokens than all its calls, the tokens are a lower bound.
//
// Outcome: the outcome of the outermost agents or, without agents, of the root spans. A failed
// request does not fail the task.
//
// Repeated spans are counted once. If two spans with the same ID differ, the first span counts, and
// everything is a lower bound. If a model call's span has no ID, spans within its time range are
// treated as the same call, and sums are lower bounds. If times are also missing, the span counts
// only if its trace contains no other call.
//
// Times: if a time is missing, zero, or invalid, start and end are unreported.
//
// Privacy: user.email, user.id, and similar attributes are never copied.
//
// Embeddings are not model calls; the input tokens are then a lower bound.
//
// Effects: /side_effects/fs_writes and /side_effects/network_egress are always unreported, because
// only instrumented actions are recorded.
package otlp
