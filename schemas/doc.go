// Package schemas contains the JSON Schemas (draft 2020-12) of this project, and checks
// documents against them.
//
// # Accepted documents
//
// The schema for receipts is based on the format's field tables. It accepts and rejects exactly the
// same documents as the format's own schema, except for two points that the dialect leaves to the
// validator. First, format is asserted, so "yesterday" is not a date-time. Second, $ in a pattern
// matches only the end of the text, so a digest followed by a line feed is invalid.
//
// Numbers are compared as the IEEE-754 doubles to which RFC 8785 converts them, so a document
// and its canonical form always get the same result: 1.0 is an integer, and so is every other
// spelling of 1. Lengths count code points.
//
// # Origin of the schemas
//
// The schemas are embedded, and identified by urn:receiptkit:schema: and a [Name]. Nothing is ever
// loaded from a disk or a network, even if a $ref refers to it. For every object, a schema states
// whether unknown members are allowed.
//
// # Problems
//
// A [Problem] states a location, and the expected and actual values. Text from the document is
// quoted, escaped, and truncated. A key's private members are named, but their values are never
// shown. Any part of a document can be invalid, but the cost of reporting is limited:
// [Schema.Check] lists the first [MaxProblems] problems and counts the others.
package schemas
