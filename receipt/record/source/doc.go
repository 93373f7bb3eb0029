// Package source creates drafts of receipts from the logs that agents write: transcripts and
// streams from Claude Code, rollouts and streams from Codex, sessions from Copilot CLI, OpenCode,
// Gemini CLI, and Pi, trajectories (ATIF), and OTLP/JSON telemetry.
//
//	log, err := source.Read([]source.Input{{Name: "session.jsonl", Reader: file}}, source.Options{
//		Options: record.Options{Issuer: receipt.Issuer{ID: "me"}},
//	})
//	text, err := record.JSON(log.Draft)
//
// # One way to a draft
//
// For each source, a reader passes the statements in the lines of a log to a story (package story).
// The story is converted to protocol events, from which the recorder of package record creates the
// draft. If the events are stored (record.Options.Keep) and recorded again, the draft is the same,
// byte for byte. As with every log, metadata.unreported lists what the source does not record.
//
// # One reader per source
//
// Each source has a reader, which implements story.Reader, in a package below internal. The Line
// method receives each line, which is a JSON object, and records its statements in a story.Story.
// The End method records information that is available only after the last line. A reader rejects
// nothing. It counts records whose types are not in its lists (Unless), and sets only values that a
// line contains. If something may be missing, the reader records a cause, which is a story.Gap. One
// table lists the parts of a receipt that each cause leaves unreported or incomplete.
//
// A row of the table in kind.go defines how the lines of a source are recognized. If a session can
// have several tasks, the row also contains the function that locates a line. The tests cut, mix,
// repeat, and fuzz one log of each source in testdata. An independent reader counts the statements
// in the lines of these logs, and no draft may claim more. docs/sources.md lists the values that
// each source records.
//
// # Rules of all sources
//
// Lines end only with a line feed (U+2028 may occur in strings), and can be up to 64 MiB. Lines
// that are not JSON objects are counted (metadata.source.unreadable_lines), and so is a truncated
// last line. If an agent cut a string in the middle of a character, the partial character is
// replaced, and that line is not used to compute digests.
//
// Missing parts: if a line, the end of a log, or the log of another agent is missing or unreadable,
// all lists and counts are unreported, and stated values are lower bounds. The same applies if a
// part of a line has an unexpected type (garbled_parts in metadata.source.counted). A result
// without its call affects everything except the cost, and a call without an ID affects calls and
// effects. Values that are neither true nor false are not treated as outcomes, and values that are
// not counts are not treated as 0.
//
// Unknown types: a record type, content block, or span may contain an action, unless it is read or
// its type is in the list of types without an action. Such records are counted by type in
// metadata.ignored_records (None for records without a type), and all lists and counts become lower
// bounds (metadata.unreported, metadata.at_least). receipt record and receipt show print their
// number. No particular version of an agent is required.
//
// Known types in unexpected places are also not read. For example, a Claude Code log may contain a
// content block in a line with the wrong role (user/tool_use). It may also contain a line about a
// call or a task that appears in no other line (progress/bash_progress). Two different calls with
// the same ID are not copies: the second is counted as calls_of_one_id in metadata.source.counted,
// and later results are attributed to neither call.
//
// If the counts for one message ID are contradictory, the tokens are a lower bound
// (messages_of_one_id). The same applies if a usage record lacks a count that other records have.
//
// Order: lines are ordered by time, and lines with the same time by line number. A line without a
// time is assigned the previous line's time. If a time is invalid, or is in the year 0 or 9999, the
// start and the end are unreported.
//
// Repetitions: a message or call is identified by its ID and counted once, regardless of the number
// of lines and files that contain it. If IDs are not sufficient (codex exec, results without an
// ID), equal contents are counted once. Items without an ID are counted (metadata.source.counted),
// and the lists become lower bounds.
//
// # Limits
//
// No line is rejected: invalid lines, unknown types, and unknown versions are counted, and the
// draft reports the counts. A log that exceeds the limits in package event is rejected. A line can
// have up to 64 MiB, and a log that is a single JSON value can have up to 256 MiB.
package source
