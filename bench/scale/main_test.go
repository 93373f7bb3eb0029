package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestRun verifies that an engine is measured only if its result matches the result of a single
// machine for the same receipts.
func TestRun(t *testing.T) {
	m, err := measure(10_000, 7, 3)
	if err != nil {
		t.Fatal(err)
	}
	if m.documents < 10_000 || m.bytes < 10_000*1000 || m.shuffled < 10_000*100 || m.machine <= 0 || m.verify <= 0 || m.group <= 0 || m.read <= 0 {
		t.Errorf("%+v", m)
	}
}

// TestCosts verifies that the table contains exactly the measured costs.
func TestCosts(t *testing.T) {
	m := measured{documents: 1000, bytes: 2_000_000, verify: 30 * time.Millisecond, group: 6 * time.Millisecond, shuffled: 500_000}
	var out bytes.Buffer
	costs(&out, m, 0.1)
	for _, want := range []string{"| 1e+06 | 2.0 GB | 0.01 | 0.001 | 500 MB | 0.36 seconds |", "| 1e+09 | 2.0 TB | 10.0 | 1 | 500 GB | 6.0 minutes |", "| 1e+12 | 2.0 PB | 10000 | 1000 | 500 TB | 4.2 days |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no line %s in\n%s", want, &out)
		}
	}
}
