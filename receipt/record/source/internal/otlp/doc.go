// Package otlp reads telemetry of agents as OTLP/JSON: spans by the GenAI conventions of
// OpenTelemetry and by those of OpenInference, and the events of Claude Code and Codex that
// tell decisions and results of calls.
//
// Exporters write ids in hexadecimal digits or in base64, numbers as texts, enums by number
// or by name, one object a line, one object, or an array. All are read. docs/sources.md has
// what is told.
package otlp
