// Package journal records the events of a harness in an append-only file. The entire state of the
// harness is computed from this file, so that after any crash, the next process has everything that
// was acknowledged.
//
//	j, err := journal.Open("events.jsonl", func(c *journal.Commit) error { return state.apply(c) })
//	err = j.Append(&journal.Commit{At: now, Events: events}) // written, synced, applied, and streamed
//	err = feed.WriteStream(w, r, j.Log(journal.View{Task: id}))
//
// # The file
//
// A line is a [Commit], a JSON object. The events in one line happened together or not at all. A
// commit is acknowledged when its line is on disk (fsync). A last line that was truncated by a
// crash, or that contains a sector of 512 bytes that was never written, was not acknowledged, and
// the next Open removes it. Any other line that differs from what was written is damage; Open
// returns an error and removes nothing. The last member of a line detects damage: it is the SHA-256
// of the bytes before it.
//
//	{"at":"…","use":{"actor":"…","key":"sha256:…","body":"sha256:…"},"status":202,
//	 "resource":{"object":"task","id":"task_1"},"events":[{"id":"event_7","object":"event",…}],
//	 "sum":"sha256:…"}
//
// The file FILE-head records where the journal ended: the length, the number of events, and the
// last checksum. A journal that lost lines at its end is therefore reported as damaged, instead of
// being continued with IDs that other events had. FILE-head is not synced, so after a power failure
// it may be older, but never newer. To continue with the remaining lines, remove FILE-head.
//
// A second process cannot open the journal (flock on Unix).
//
// # Failures
//
// A commit over 16 MiB is rejected with 413 ([ErrTooLong]). A full disk returns 503: the incomplete
// line is removed, and the journal continues ([ErrNotWritten]). [Journal.Ready] returns the reason
// why nothing can be written. After a disk failure, nothing is written until the journal is opened
// again, because the contents of the file are unknown.
//
// # Events
//
// The journal assigns each event its ID, which is event_ and its number in the file, and its
// sequence number among the events of its resource, from 1 without gaps. IDs are the cursors of
// ranges and streams. Events become visible only when they are on disk, in the order of the file.
// The number counts the events of all tenants, so a client can estimate the number of other
// tenants' events.
//
// A [View] contains all events, or those of a workspace, a session, or a task. A position in it is the
// ID of one of its events; any other ID is gone (410). A waiting stream examines each event outside
// its view once, and a range at most 1,024 of them.
//
// # Idempotency
//
// A commit that answers a request with an Idempotency-Key records the request. Use, Status, and
// Resource suffice to send the same response again after a crash ([Commit.Remember]). The response
// is read from the journal and cannot prevent a commit from being applied.
//
// # Memory
//
// Each event takes about a hundred bytes of memory, for its position in the file and its task,
// session, and workspace. The events themselves are read from the file on demand. The state can
// leave long values in the file, too ([Commit.Part]).
package journal
