// Package schemas holds the JSON Schemas (draft 2020-12) of this project and
// checks documents against them.
//
// # Which documents fit
//
// The schema of receipts is written from the format's field tables. It accepts
// and refuses exactly the documents that the format's own schema does, with two
// clarifications that the dialect leaves to the validator: format is asserted,
// so that "yesterday" is not a date-time, and $ in a pattern means the end of the
// text, so that a digest followed by a line feed is not a digest.
//
// Numbers are compared as the IEEE-754 doubles that RFC 8785 makes of them, so
// that a document and its canonical form always get the same answer: 1.0 is an
// integer, and so is every other spelling of 1. Lengths count code points.
//
// # Where the schemas come from
//
// They are embedded, and named by urn:receiptkit:schema: and a [Name]. Nothing
// is ever loaded from a disk or a network, whatever a $ref says. A schema states
// for every object whether it takes unknown members.
//
// # What is told
//
// A [Problem] says where, what was expected and what was found, in words that
// are fixed by tests. Text from the document is quoted, escaped and cut; private
// members of a key are named and their values never shown. There is no limit to
// how much of a document can be wrong, but there is one to what that costs:
// [Schema.Check] tells the first [MaxProblems] and counts the others.
package schemas
