// Package terms contains the parts that the programs for object storage share: the flags for
// requirements, which are those of receipt verify, the exit codes, and the text format of a
// summary.
package terms
