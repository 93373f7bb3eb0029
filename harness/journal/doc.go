// Package journal records the events of a harness in an append-only file. The entire state of the
// harness is computed from this file, so after any crash, the next process has everything that was
// acknowledged.
//
//	j, err := journal.Open("events.jsonl", func(c *journal.Commit) error { return state.apply(c) })
//	err = j.Append(&journal.Commit{At: now, Events: events}) // written, synced, applied, and streamed
//	err = feed.WriteStream(w, r, j.Log(journal.View{Task: id}))
//
// # The file
//
// Each line is a [Commit], encoded as a JSON object. The events in a line happened either together
// or not at all. A commit is acknowledged when its line is on disk (fsync). The last line was not
// acknowledged if a crash truncated it, or if it contains a sector of 512 bytes that was never
// written. The next Open removes such a line. If any other line differs from what was written, the
// journal is damaged. In that case, Open returns an error and removes nothing. Damage is detected
// by the last member of each line, which is the SHA-256 digest of the preceding bytes.
//
//	{"at":"…","use":{"actor":"…","key":"sha256:…","body":"sha256:…"},"status":202,
//	 "resource":{"object":"task","id":"task_1"},"events":[{"id":"event_7","object":"event",…}],
//	 "sum":"sha256:…"}
//
// The file FILE-head records where the journal ended. It contains the length, the number of events,
// and the last checksum. Therefore, a journal that has lost lines at its end is reported as
// damaged, and the IDs of the lost events are not reused. FILE-head is not synced, so after a power
// failure it might be older than the journal, but never newer. To continue with the remaining
// lines, remove FILE-head.
//
// A second process cannot open the journal (flock on Unix).
//
// # Failures
//
// A commit that is longer than 16 MiB is rejected with a 413 ([ErrTooLong]). If the disk is full, a
// 503 is returned. The incomplete line is removed, and the journal remains usable
// ([ErrNotWritten]). [Journal.Ready] returns the reason if nothing can be written. After a disk
// failure, nothing is written until the journal is opened again, because the content of the file is
// unknown.
//
// # Events
//
// The journal assigns an ID and a sequence number to each event. The ID consists of "event_" and
// the number of the event in the file. Each resource has its own sequence numbers, which start at 1
// and have no gaps. IDs are used as the cursors of ranges and streams. Events become visible only
// when they are on disk, in the order of the file. The numbers in IDs count the events of all
// tenants, so a client can estimate how many events other tenants have.
//
// A [View] contains all events, or the events of a workspace, a session, or a task. A position in a
// view is the ID of one of its events. Any other ID is reported as gone (410). A waiting stream
// examines each event outside its view once, and a range examines at most 1,024 of them.
//
// # Idempotency
//
// A commit that answers a request with an Idempotency-Key records the request. Use, Status, and
// Resource are sufficient to send the same response again after a crash ([Commit.Remember]). The
// response is read from the journal, so it cannot prevent a commit from being applied.
//
// # Memory
//
// Each event uses about a hundred bytes of memory for its position in the file, its task, its
// session, and its workspace. The events themselves are read from the file on demand. The state can
// also leave long values in the file ([Commit.Part]).
package journal
