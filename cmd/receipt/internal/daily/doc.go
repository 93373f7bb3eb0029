// Package daily records directories of logs. Each task in them is recorded once, even if the
// command is run repeatedly.
package daily
