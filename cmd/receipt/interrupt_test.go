package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// TestInterruptedInput verifies that a run leaves no files behind if it is interrupted while it
// waits for input.
func TestInterruptedInput(t *testing.T) {
	inFolder(t, 1)
	for name, text := range map[string]string{"task.json": fixture(t, "valid/task.json"), "trust.json": fixture(t, "keys/trust.json")} {
		writeFile(t, name, text)
	}
	before := strings.Join(files(t), " ")
	for _, line := range []string{
		"record - --issuer x --log kept.jsonl",
		"verify --keys trust.json --temp-dir . --report r.json - task.json",
		"verify --keys trust.json --report r.json -",
		"archive pack - -o a.cborseq",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		in, writer := io.Pipe()
		var message bytes.Buffer
		done := make(chan int, 1)
		go func() {
			done <- run(ctx, strings.Fields(line), &cli.Env{In: in, Out: io.Discard, Err: &message, Getenv: func(string) string { return "" }, Now: time.Now})
		}()
		if _, err := writer.Write([]byte("\n")); err != nil { // Write returns as soon as the run reads
			t.Fatal(err)
		}
		cancel()
		select {
		case code := <-done:
			if code != cli.ExitUsage || message.String() != "receipt: error: interrupted\n" {
				t.Errorf("%s: exit %d, %s", line, code, message.String())
			}
		case <-time.After(patient):
			t.Errorf("%s: it does not end", line)
		}
		writer.Close()
		if after := strings.Join(files(t), " "); after != before {
			t.Errorf("%s: there is %s, want %s", line, after, before)
		}
	}
}
