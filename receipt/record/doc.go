// Package record makes the draft of a receipt of what happened in a task.
//
//	rec, err := record.New(record.Options{Issuer: receipt.Issuer{ID: "my_harness"}})
//	for event := range events { // of one task, in order, each a JSON object
//		if err := rec.Add(event); err != nil {
//			return err // *record.Error: which event, where, why
//		}
//	}
//	draft, err := rec.Draft() // *receipt.Draft, to redact, seal and sign
//
// # Three fronts
//
// A [Recorder] consumes the protocol's events; docs/record.md has the table of what each
// becomes. Package event reads them: which are of the task, in what order, each once.
// [Frames] consumes the JSON-RPC frames of a bridge or of ACP: package bridge makes
// events of them, and a Recorder gets those: the same run gives the same draft, byte for
// byte. What happened between the two peers of a bridge is not all that a receipt tells,
// so [Frames.Event] takes the rest. [Read] reads a file of either. A [Turn] consumes what
// happens in one turn of a chat: package turn makes events of that.
//
// # What is consumed
//
// The events of one task, in the order of their sequence. An event that is
// delivered again counts once. One that is out of order, or missing, that another
// content has under the same id, or that comes after the end and would have
// changed the receipt ends the recording with an [Error], and there is no draft:
// a receipt never leaves out silently what was refused. Members that this version does
// not know are ignored, as the protocol demands, and counted. Events of kinds that it
// does not know are counted too, and make the lists and counts of the draft lower bounds.
// Events of other tasks are passed over and counted when Options.TaskID says
// which is meant; otherwise they are an error.
//
// The draft names the digest of the log: SHA-256 over the canonical form (RFC
// 8785) of each event of the task, unknown kinds included, receipt.* and what
// came after the end left out, a line feed after each. With a shell, for a log
// of one task that is canonical already:
//
//	sha256sum events.jsonl
//
// # What is derived
//
// The same events and options give the same bytes: there is no clock, no random
// number and no order of a map in them. Lists are in the order of the events,
// deltas in that of their override keys. Money is added as decimals, not as
// floating-point numbers. Digests of JSON values are the SHA-256 of their RFC
// 8785 form. What is written comes from a few named members of payloads: hidden
// reasoning is not one of them, and is taken out of the one open object that is
// copied, the failure of a task.
//
// Whatever a permission was answered with, an approval is only what is known to
// be one. What is unknown, ambiguous or contradictory is a denial. Too few reviewers
// are not an approval, and neither is an answer after the deadline.
//
// # What is claimed
//
// Nothing that no event says. What several events tell of one thing is joined; what they
// tell in two ways is listed, as is what the source does not tell and
// the schema wants: metadata.unreported, JSON Pointers into the draft. A call that ran is
// told whatever came after it, with the arguments with which it ran. Events that a replay
// tells again are not deeds of its own. docs/record.md has each rule.
//
// # What is not done here
//
// Names, paths, reasons and messages of the task are copied as they are. A secret
// in them is package redact's matter: apply a redact.Policy to the draft before
// it is sealed.
//
// # Stability
//
// This package may still change: it is not of the frozen core. What it writes is a draft of
// a frozen format.
package record
