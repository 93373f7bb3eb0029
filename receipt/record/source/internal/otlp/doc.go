// Package otlp reads telemetry of agents as OTLP/JSON: spans that follow the GenAI conventions of
// OpenTelemetry or those of OpenInference, and the events of Claude Code and Codex that state
// decisions and results of calls.
//
// Exporters write IDs in hexadecimal digits or in base64, numbers as strings, and enums by number
// or by name. A file contains one object per line, a single object, or an array. All forms are
// read. docs/sources.md lists their statements.
package otlp
