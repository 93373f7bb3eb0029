// Package terms contains what the programs for object storage share. It contains the flags for
// requirements, which are the same as for receipt verify, the exit codes, and the text format of a
// summary.
package terms
