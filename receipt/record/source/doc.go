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
// Each source has a reader of lines, a story.Reader. To add a source, write a reader and a row
// of the table in kind.go. docs/sources.md lists the statements of each source, and those that it lacks.
//
// # Limits
//
// No line is rejected: invalid lines, unknown types, and unknown versions are counted, and the
// draft reports the counts. A log that exceeds the limits of package event is rejected. A line
// can have up to 64 MiB.
package source
