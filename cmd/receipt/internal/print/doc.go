// Package print writes reports and summaries as text, JSON, NDJSON, CSV, HTML, and Markdown, and in
// the formats of CI systems, to stdout and to the files of --report. It decides nothing.
package print
