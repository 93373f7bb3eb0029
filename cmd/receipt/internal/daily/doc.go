// Package daily records directories of logs: every task in them once, no matter how often it
// runs.
package daily
