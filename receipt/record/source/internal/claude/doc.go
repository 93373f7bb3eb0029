// Package claude reads the logs of Claude Code: transcripts, which it keeps of every session, and
// the stream of its option --output-format stream-json.
//
// docs/sources.md lists their statements. Neither format is a contract, so unknown types and
// members are skipped and counted.
package claude
