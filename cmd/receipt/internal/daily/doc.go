// Package daily records folders of logs: every task in them once, however often it is run.
package daily
