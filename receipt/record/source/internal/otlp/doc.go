// Package otlp reads agent telemetry in OTLP/JSON: spans that follow the OpenTelemetry GenAI
// conventions or the OpenInference conventions, and the events with which Claude Code and Codex
// record decisions about calls and the results of calls.
//
// Exporters write IDs in hexadecimal digits or base64, numbers as strings, and enums by number or
// by name. A file contains one object per line, a single object, or an array. The package accepts
// all of these forms. docs/sources.md lists the values that the package reads.
//
// # Rules
//
// Unread spans: a span that follows an agent convention (gen_ai., llm., openinference., traceloop.,
// langfuse., mcp., ai., tool.; claude_code., codex.), but has none of the types in docs/sources.md,
// counts as unread unless its type records no action. The same applies to spans with an invalid or
// contradictory type, to containers without their list, and to unknown members that are lists or
// objects. Attributes that only name an agent or a session are ignored for this purpose, because
// exporters add them to all spans.
//
// Nested spans: if several nested spans record a model call, only the innermost is used, unless a
// tool or an agent is between them. If an agent reports more tokens than its calls add up to, the
// number of tokens is a lower bound.
//
// Outcome: the outermost agents or, if there are no agents, the root spans determine the outcome of
// the task. A failed request does not fail the task.
//
// Repeated spans are counted once. If two spans have the same ID but differ, the first span is
// used, and all values are lower bounds. If the span of a model call has no ID, spans within its
// time range are treated as the same call, and sums are lower bounds. If the times are also
// missing, the span is used only if its trace contains no other call.
//
// Times: if a time is missing, zero, or invalid, the start and the end of the task are unreported.
//
// Privacy: user.email, user.id, and similar attributes are never copied.
//
// Embeddings: they are not model calls, but if there are any, the input tokens are a lower bound.
//
// Effects: /side_effects/fs_writes and /side_effects/network_egress are always unreported, because
// only instrumented actions are recorded.
package otlp
