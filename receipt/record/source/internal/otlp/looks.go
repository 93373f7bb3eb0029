package otlp

import (
	"bytes"
	"strings"
)

// Looks reports whether a text begins as an export does, wherever its lines end.
func Looks(head []byte) bool {
	text := strings.TrimPrefix(string(bytes.Join(bytes.Fields(bytes.TrimPrefix(head, []byte("\ufeff"))), nil)), "[")
	for _, name := range members() {
		if strings.HasPrefix(text, `{"`+name+`":[`) {
			return true
		}
	}
	return false
}

// members are the lists of which an export has one.
func members() []string {
	return []string{"resourceSpans", "resourceLogs", "resourceMetrics", "batches"}
}
