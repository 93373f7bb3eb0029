// Package replay proves that a second run of a task did the same as the first, but for
// what was named.
//
//	log, err := replay.ReadLog(file, "task_7")           // what was recorded
//	request, err := replay.ParseRequest(body)            // what is to be swapped
//	plan, err := replay.NewPlan(ctx, log, request, nil)  // both, and what they need
//
// A replay is a supply of recorded answers and a proof of what was swapped. One [Plan]
// serves three users, who see the same deltas:
//
//   - a harness that runs its module again asks for each answer: [Plan.Take];
//   - a harness that has no module tells the recorded events again: [Plan.Events];
//   - an auditor checks the receipt afterwards: [Plan.Deltas], [Plan.Check].
//
// [Compare] says where the receipts of two replays differ. Nothing is run here: no module,
// no model, no tool; and nothing is refreshed.
//
// # Keys
//
// What answered a task is a [record.Dependency], named by a key:
//
//	llm:<call id>                    what a model returned; the call id is <agent>:<number>
//	mcp:<server>:<tool call id>      what a tool of an MCP server returned
//	host:<capability>:<call id>      what another tool returned; host:memory:<id> what was remembered
//	time:<label>                     a reading of the clock: created_at, started_at, completed_at are the task's
//	secret:<name>                    a secret, of which no log tells
//
// # Digests
//
// Of an inline value: SHA-256 over its canonical form (RFC 8785). Of an artifact: over its
// bytes. Of a secret there is none, as a digest lets it be guessed.
//
// # What is not told
//
// Values of overrides whose visibility is receipt_only are in no event: their digests are.
// Secrets are in no event, error or delta; only [Plan.Take] returns them.
//
// # Stability
//
// This package may still change: it is not of the frozen core.
package replay
