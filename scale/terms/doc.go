// Package terms contains what the programs for object storage have in common: the flags for
// requirements, which are those of receipt verify, the exit codes, and the text format of a
// summary.
package terms
