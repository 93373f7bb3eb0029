// Package schemas contains the JSON Schemas (draft 2020-12) of this project and checks documents
// against them.
//
// # Accepted documents
//
// The schema for receipts is derived from the field tables in the format specification. It accepts
// the same documents as the schema in the specification, except for two points that the dialect
// leaves to the validator. First, format is asserted, so "yesterday" is not accepted as a
// date-time. Second, $ in a pattern matches only at the end of the text, so a digest followed by a
// line feed is invalid.
//
// Numbers are compared as IEEE-754 doubles, to which RFC 8785 converts them. A document and its
// canonical form therefore always have the same result; for example, 1.0 is an integer, as is every
// other spelling of 1. The length of a string is its number of code points.
//
// # Origin of the schemas
//
// The schemas are embedded in the program. Each is identified by urn:receiptkit:schema: followed by
// a [Name]. Nothing is ever loaded from a disk or a network, even if a $ref refers to such a
// location. For each object, the schema states whether unknown members are allowed.
//
// # Problems
//
// A [Problem] contains a location, the expected value, and the actual value. Text from the document
// is quoted, escaped, and truncated. The private members of a key are named, but their values are
// never shown. Every part of a document can be invalid, so the cost of reporting is limited:
// [Schema.Check] lists the first [MaxProblems] problems and only counts the others.
package schemas
