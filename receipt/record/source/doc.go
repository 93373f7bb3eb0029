// Package source creates drafts of receipts from the logs that agents write: transcripts and
// streams of Claude Code, rollouts and streams of Codex, and OTLP/JSON telemetry.
//
//	log, err := source.Read([]source.Input{{Name: "session.jsonl", Reader: file}}, source.Options{
//		Options: record.Options{Issuer: receipt.Issuer{ID: "me"}},
//	})
//	text, err := record.JSON(log.Draft)
//
// # One way to a draft
//
// A reader for each source collects the statements of the lines in a story (package story). The
// story is returned as events of the protocol, and the recorder of package record creates the
// draft from them. If the events are kept (record.Options.Keep) and recorded again, the draft
// is the same, byte for byte. As for every log, metadata.unreported lists what the source does
// not state.
//
// # One small package per source
//
// A source is a package in internal with a reader, a story.Reader. Its method Line receives each
// line, a JSON object, and records in a story.Story what the line states; End records what is known
// only after the last line. A reader rejects nothing, counts records whose types are not in its
// closed lists (Unless), and sets nothing that no line states. If something may be missing, it names
// a cause, a story.Gap: one table lists the places of the receipt that each cause leaves unreported
// or incomplete.
//
// A row of the table in kind.go defines how the lines of the source are recognized and, if a session
// can have several tasks, the function that locates a line. The tests cut, mix, repeat, and fuzz a
// log in testdata together with the others. An independent reader counts what its lines state, and
// no draft may claim more. docs/sources.md lists the values that each source records.
//
// # Limits
//
// No line is rejected: invalid lines, unknown types, and unknown versions are counted, and the
// draft reports the counts. A log that exceeds the limits of package event is rejected. A line
// can have up to 64 MiB.
package source
