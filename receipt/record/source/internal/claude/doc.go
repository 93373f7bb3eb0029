// Package claude reads what Claude Code writes: transcripts, which it keeps of every
// session, and the stream of its option --output-format stream-json.
//
// docs/sources.md has what each tells. Neither is a contract, so that unknown types and
// members are passed over and counted.
package claude
