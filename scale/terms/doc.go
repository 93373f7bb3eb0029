// Package terms contains the code that the programs for object storage share: the flags for
// requirements, which are the same as those of "receipt verify", the exit codes, and the text
// format of a summary.
package terms
