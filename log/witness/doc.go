// Package witness implements a server for C2SP tlog-witness, which cosigns the checkpoints of logs.
//
// For each log, a witness stores one record, which is the last checkpoint that it cosigned. It
// cosigns a checkpoint only if a consistency proof shows that its tree extends the tree in the
// record. Therefore, it never cosigns two different trees of the same size. The record is durable
// before the cosignature leaves the process. If a record cannot be read, all requests for its log
// fail with an error. The record is never treated as absent, because otherwise the witness would
// cosign any tree.
//
// Only one process at a time can use a state directory. If an old copy of the directory is
// restored, the witness forgets trees that it has cosigned.
package witness
