// Package corpus has the texts that tests of redaction use: forms in which secrets stand
// in what agents read and write, and forms that only look so. Their values are made anew
// by each test, so that no secret stands in a file.
package corpus
