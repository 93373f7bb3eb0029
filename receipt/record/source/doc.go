// Package source makes drafts of receipts of what agents log for themselves: transcripts
// and streams of Claude Code, rollouts and streams of Codex, telemetry of OTLP/JSON.
//
//	log, err := source.Read([]source.Input{{Name: "session.jsonl", Reader: file}}, source.Options{
//		Options: record.Options{Issuer: receipt.Issuer{ID: "me"}},
//	})
//	text, err := record.JSON(log.Draft)
//
// # One way to a draft
//
// Lines become a story (package story), the story is told in the protocol's events, and the
// recorder that makes drafts of those makes this one, too. Whoever keeps the events
// (record.Options.Keep) and records them again has the same draft, byte for byte. What the
// source does not tell is in metadata.unreported, as for every log.
//
// # One small package for each source
//
// Each has a reader of lines, with one shape: story.Reader. To add a source write one, and
// a row of [Kinds]. docs/sources.md says what each source tells and what it does not.
//
// # What is refused
//
// Nothing that is in a log: lines that are no JSON, unknown types and unknown versions are
// counted, and the draft says so. More than is recorded is refused, with the limits of
// package event; a line may have [MaxLine] bytes.
package source
