// Package daily records directories of logs. Every task in them is recorded once, regardless of how
// often it runs.
package daily
