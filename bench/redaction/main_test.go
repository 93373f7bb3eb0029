package main

import (
	"strings"
	"testing"
)

// TestTable: all are measured, and a scan is faster than what anybody would write
// first, by far more than any disturbance.
func TestTable(t *testing.T) {
	var b strings.Builder
	slowest, err := table(&b, 1)
	if err != nil || slowest <= 0 {
		t.Fatal(slowest, err)
	}
	if lines := strings.Count(b.String(), "\n"); lines != 5 {
		t.Errorf("%d lines:\n%s", lines, &b)
	}
	t.Logf("\n%s", &b)
}
