// Package codex reads what Codex writes: rollouts, which it keeps of every session, and
// the stream of codex exec --json.
//
// docs/sources.md has what each tells. Neither is a contract, so that unknown types and
// members are passed over and counted.
package codex
