// Package story collects what logs of one task tell, whoever wrote them, and tells it in
// the protocol's events.
//
//	s := story.New("claude-transcript")
//	s.Begin("session.jsonl")      // a log; more may follow
//	s.At(stamp)                   // the instant of the line that is read
//	s.Call("toolu_1").Ask(s, "Bash", digest)
//	…
//	err := s.Tell("", recorder.Add)
//
// A source reads lines and says what each of them says, in any order and as often as its
// log does. A [Story] counts every message and every call once, by its id, however often
// lines repeat it, and puts what happened in the order of the instants.
//
// # Absent is not zero
//
// What a source does not say is not set here. The end of a task, its tier, its times and
// its approvals are unreported until a source says otherwise; [Story.Untold] adds what is
// known to be missing of the rest. Counts that are only a floor are said to be one.
//
// # What is kept
//
// Names, ids, paths, instants, counts and digests. No prompt, no text, no input and no
// result of a tool is kept: of those there are digests.
package story
