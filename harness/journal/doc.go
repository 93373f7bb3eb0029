// Package journal keeps what happens in a harness, in one file that is only added to. All
// that the harness knows is folded from it, so that whatever ends the program, the next one
// knows what was acknowledged.
//
//	j, err := journal.Open("events.jsonl", func(c *journal.Commit) error { return state.apply(c) })
//	err = j.Append(&journal.Commit{At: now, Events: events}) // written, synced, applied, told to streams
//	err = protocol.WriteStream(w, r, j.Log(journal.View{Task: id}))
//
// # The file
//
// A line is a [Commit], a JSON object: what is in one line happened together, or not at all. A
// commit is acknowledged when its line is on the disk (fsync). A last line that a crash cut off,
// or of which a sector of 512 bytes was never written, was acknowledged to nobody, and the next
// Open removes it. Any other line that is not as it was written is damage, and refused; nothing
// is removed then. Its last member tells: the SHA-256 of the bytes before it.
//
//	{"at":"…","use":{"actor":"…","key":"sha256:…","body":"sha256:…"},"status":202,
//	 "resource":{"object":"task","id":"task_1"},"events":[{"id":"event_7","object":"event",…}],
//	 "sum":"sha256:…"}
//
// Next to the file, FILE-head says where it ended. So a file that lost lines at its end is found to
// be damaged, rather than continued with ids that others had.
//
// # Events
//
// The journal gives each event its id, event_ and its number in the file, and its sequence
// among those of its resource, from 1 on without gaps. Ids are the cursors of ranges and
// streams. An event is told to nobody before it is on the disk, and in the order of the file.
//
// # What was done once
//
// A commit that answers a request with an Idempotency-Key says so: Use, Status and Resource
// are enough to answer the same again after a crash ([Commit.Remember]). The answer is read from the
// journal, and nothing about it can keep a commit from being applied.
//
// # What is in memory
//
// Of each event about a hundred bytes: where it is in the file, and which task, session and
// workspace it is of. The events are read from the file when they are asked for. Whoever folds them
// can leave long values there, too ([Commit.Part]).
package journal
