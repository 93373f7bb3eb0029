// Package story collects the content of the logs of a task, from any agent, and converts it to
// protocol events.
//
//	s := story.New("claude-transcript")
//	log := s.Begin("session.jsonl") // a log; more may follow
//	s.At(stamp)                     // the time of the line that is read
//	s.Call("toolu_1").Ask("Bash", digest)
//	…
//	err := s.Tell("", recorder.Add)
//
// The reader of a source passes on the statements in each line, in any order and as often as the
// log contains them. A [Story] counts each message and each call once, by its ID, and orders events
// by time.
//
// # Absent is not zero
//
// A reader sets only values that its source records. The end of a task, its tier, its times, and
// its approvals are unreported until a line records them. For every other part that may be missing,
// there is a [Gap]: the reader names the cause, and one table lists the parts of the receipt that
// the cause leaves unreported or incomplete.
//
// # What is kept
//
// A story contains names, IDs, paths, times, counts, and digests. Prompts, messages, tool inputs,
// and tool results are not stored. Only their digests are stored.
package story
