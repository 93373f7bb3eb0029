// Package print writes reports and summaries as text, JSON, NDJSON, JUnit, GitHub
// annotations, CSV, and HTML, to stdout and to the files of --report. It decides nothing.
package print
