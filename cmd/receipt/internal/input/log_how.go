package input

import (
	"bytes"
	"io"
	"os"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/internal/unpack"
)

// LogHow returns instructions for converting a file to a log of events, which has one JSON object
// per line. The instructions depend on the first bytes of the file.
func LogHow(path string) string {
	const form = "a log has one JSON object per line; see docs/events.md"
	f, err := os.Open(path)
	if path == cli.StdinName || err != nil {
		return form
	}
	defer f.Close()

	head := make([]byte, 4<<10)
	n, _ := io.ReadFull(f, head) // the file may be shorter
	head = head[:n]
	file := cli.ShellFile(path)
	text := bytes.TrimLeft(head, " \t\r\n")
	first, _, _ := bytes.Cut(text, []byte{'\n'})
	first = bytes.TrimSpace(first)

	switch unpack.Format(head) {
	case "gzip":
		return "it is compressed: gunzip -c " + file + " | receipt schema event --check -"
	case "zstd":
		return "it is compressed: zstd -dc " + file + " | receipt schema event --check -"
	}

	// For other forms of JSON, the instructions use jq.
	switch {
	case bytes.HasPrefix(text, []byte("[")):
		return form + "; jq -c '.[]' " + file + " writes the elements of an array as lines"
	case bytes.HasPrefix(text, []byte("{")) && bytes.Contains(text, []byte(`"list"`)) && bytes.Contains(text, []byte(`"data"`)):
		return form + "; jq -c '.data[]' " + file + " writes the items of a list as lines"
	case string(first) == "{":
		return form + "; jq -c . " + file + " writes each object as a line"
	}
	return form
}
