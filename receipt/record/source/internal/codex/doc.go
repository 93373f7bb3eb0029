// Package codex reads the logs of Codex: rollouts, which it keeps of every session, and the
// stream of codex exec --json.
//
// docs/sources.md lists their statements. Neither format is a contract, so unknown types and
// members are skipped and counted.
package codex
