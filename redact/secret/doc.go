// Package secret finds secrets in texts: keys, tokens, and passwords.
//
// A [Detector] describes secrets of one kind with a regular expression and a list of exceptions.
// [Compile] compiles a list of detectors into a [Scanner], which searches for all of them in one
// pass and returns a [Span] for each secret. [Default] returns about four hundred detectors for
// everyday use. Package redact withholds the secrets from a receipt.
//
// Texts are searched as is. To find secrets in JSON or in a URL, decode the text first.
//
// No error quotes a secret. The API may still change.
package secret
