// Package replay checks that a second run of a task did the same as the first run, except for
// listed substitutions.
//
//	log, err := replay.ReadLog(file, "task_7")           // what was recorded
//	request, err := replay.ParseRequest(body)            // what to substitute
//	plan, err := replay.NewPlan(ctx, log, request, nil)  // both, and what they need
//
// A replay uses recorded answers and lists the answers that it substitutes. A single [Plan] serves
// three kinds of callers, which all obtain the same deltas:
//
//   - a harness that runs its module again requests each answer with [Plan.Take];
//   - a harness without a module writes the recorded events again with [Plan.Events];
//   - an auditor checks the receipt afterward with [Plan.Deltas] and [Plan.Check].
//
// [Compare] lists the differences between the receipts of two replays. This package runs no module,
// model, or tool, and does not obtain new answers.
//
// # Keys
//
// A [record.Dependency] is an answer that the task received, and is identified by a key:
//
//	llm:<call id>                    a response of a model; the call id is <agent>:<number>
//	mcp:<server>:<tool call id>      a result of a tool of an MCP server
//	host:<capability>:<call id>      a result of another tool; host:memory:<id> is remembered content
//	time:<label>                     a clock reading: created_at, started_at, completed_at are the task's
//	secret:<name>                    a secret, which no log records
//
// # Digests
//
// The digest of an inline value is the SHA-256 of its canonical form (RFC 8785), and the digest of
// an artifact is the SHA-256 of its bytes. A secret has no digest, because a digest would make it
// possible to check guesses of the secret.
//
// # What is not disclosed
//
// If the visibility of an override is receipt_only, events contain the digest of its value but not
// the value itself. Secrets do not occur in events, errors, or deltas; only [Plan.Take] returns
// them.
//
// # Stability
//
// This package may still change because it is not part of the frozen core.
package replay
