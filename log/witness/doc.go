// Package witness implements the server of C2SP tlog-witness, which cosigns the checkpoints of
// logs.
//
// For each log, a witness keeps one record: the last checkpoint that it cosigned. It cosigns a
// checkpoint only if a consistency proof shows that the tree extends that of the record, so it
// never cosigns two trees of one size. The record is durable before the cosignature leaves the
// process. A record that cannot be read ends all requests for its log with an error. It is never
// treated as absent, because the witness would then cosign any tree.
//
// One process uses a state directory at a time. Restoring an old copy of the directory makes the
// witness forget trees that it cosigned.
package witness
