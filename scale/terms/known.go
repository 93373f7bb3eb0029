package terms

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// maxReport is the maximum size of a report that is read to find its heads. If there are many
// receipts, "receipt verify --report-only summary" writes a report that does not list them.
const maxReport = 256 << 20

// readKnown reads a HASH|REPORT argument, which is a single hash, or a report that contains the
// heads of its streams.
func readKnown(arg string) (canon.Digest, map[chain.Stream]chain.Head, error) {
	if d, err := canon.ParseDigest(arg); err == nil {
		if d.IsZero() {
			return d, nil, errors.New("a hash of zeros is not the hash of a receipt")
		}
		return d, nil, nil
	}

	data, err := readBounded(arg, maxReport)
	if err != nil {
		return canon.Digest{}, nil, fmt.Errorf("expected sha256: and 64 hexadecimal digits, or a report: %w", err)
	}
	var report struct{ Summary json.RawMessage }
	if err := json.Unmarshal(data, &report); err != nil || report.Summary == nil {
		return canon.Digest{}, nil, fmt.Errorf("%q is not a report: expected JSON with the member summary, as written by --format json", arg)
	}
	var sum stream.Summary
	if err := json.Unmarshal(report.Summary, &sum); err != nil {
		return canon.Digest{}, nil, fmt.Errorf("%q: %w", arg, err)
	}
	heads := sum.Heads()
	if len(heads) == 0 {
		return canon.Digest{}, nil, fmt.Errorf("the report %q contains no head of a stream", arg)
	}
	return canon.Digest{}, heads, nil
}

// maxCheckpoint is the maximum size of a checkpoint.
const maxCheckpoint = 1_000_000

// readCheckpoint reads a file that must contain a signed checkpoint. An altered checkpoint is read
// like any other, and fails later as evidence. Any other kind of file is an error.
func readCheckpoint(name string) ([]byte, error) {
	note, err := readBounded(name, maxCheckpoint)
	if err != nil {
		return nil, err
	}
	if !bytes.Contains(note, []byte("\n\n\u2014 ")) { // the beginning of the signature lines
		return nil, fmt.Errorf("%q is not a checkpoint: expected a file that receipt batch checkpoint wrote", name)
	}
	return note, nil
}

// readBounded reads a file that must not be longer than the given number of bytes.
func readBounded(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%q is larger than %d bytes", name, most)
	}
	return data, err
}
