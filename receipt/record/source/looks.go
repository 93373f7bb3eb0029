package source

import (
	"bytes"
	"strings"
)

// looks reports whether a text begins as an export of OTLP does, wherever its lines end.
func looks(head []byte) bool {
	text := strings.TrimPrefix(string(bytes.Join(bytes.Fields(bytes.TrimPrefix(head, []byte("\ufeff"))), nil)), "[")
	for _, name := range []string{"resourceSpans", "resourceLogs", "resourceMetrics", "batches"} {
		if strings.HasPrefix(text, `{"`+name+`":[`) {
			return true
		}
	}
	return false
}
