// Package secret finds secrets, such as keys, tokens, and passwords, in text.
//
// A [Detector] describes one kind of secret with a regular expression and a list of exceptions.
// [Compile] prepares a list of detectors as a [Scanner], which searches for all of them in one pass
// and returns a [Span] for each secret. [Default] returns about four hundred detectors for everyday
// use. Package redact uses these detectors to withhold secrets from a receipt.
//
// Text is searched without decoding. To find secrets in JSON or in a URL, decode the strings first.
//
// Errors never quote a secret. The API of this package may still change.
package secret
