// Package secret finds secrets in texts: keys, tokens, passwords.
//
// A [Detector] says what secrets of one kind look like, as a regular expression and what
// it must not match. [Compile] makes a [Scanner] of a list of detectors, which looks for
// all of them at once and returns a [Span] for each secret. [Default] are some four hundred
// detectors for everyday use; what withholds the finds from a receipt is package redact.
//
// What encodes a text is not taken off: who looks for secrets in JSON or in a URL decodes
// that first.
//
// No text of a secret is in an error. The exported names may still change.
package secret
