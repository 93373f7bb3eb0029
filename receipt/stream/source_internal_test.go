package stream

import (
	"testing"

	"github.com/receiptkit/receiptkit/internal/kind"
)

// TestSkippedKinds verifies which kinds of files are skipped if they were found in a directory.
func TestSkippedKinds(t *testing.T) {
	for k, want := range map[kind.Kind]bool{
		kind.Events: true, kind.Frames: true, kind.Transcript: true, kind.Attestation: true,
		kind.Keys: true, kind.Checkpoint: true, kind.Proof: true, kind.Disclosures: true, kind.Batch: true,
		kind.AELLine: false, kind.Unknown: false,
	} {
		err := &OtherKindError{Found: kind.Found{Kind: k, What: "a file"}}
		if found, got := (&Source{Found: true}).beside(err); got != want || got && found.What != "a file" {
			t.Errorf("%s: %t, %v", k, got, found)
		}
		if _, got := new(Source).beside(err); got {
			t.Errorf("%s: a named file is skipped", k)
		}
	}
}

// TestIsInput verifies which file names are names of receipts.
func TestIsInput(t *testing.T) {
	for name, want := range map[string]bool{
		"a.json": true, "a.JSONL": true, "a.ndjson.gz": true, "a.cbor.zst": true, "a.cborseq": true, "a.b.cose": true, ".json": true,
		"json": false, "a": false, "": false, "a.json.bak": false, "a.pdf": false, "a.gz": false, "json.": false,
	} {
		if got := IsInput(name); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}
