package canon

import (
	"bytes"
	"fmt"
	"testing"
)

// receiptLike returns an indented document with the structure and approximate mean size (11 KB) of
// a receipt, including unsorted names, escapes, monetary amounts, and digests.
func receiptLike() []byte {
	var b bytes.Buffer
	b.WriteString(`{
  "schema": "receipt-2026-04-25",
  "receipt_id": "rcpt_01JZ4QK8M7",
  "subject": {"type": "task", "id": "task_7f3c", "display_name": "Quarterly report – draft"},
  "issuer": {"id": "did:web:agents.example.com", "public_key_id": "key-2026-01", "display_name": "Example Agents"},
  "issued_at": "2026-04-25T12:00:00Z",
  "identifiers": {"workspace_ref": "ws_1", "tenant_id": "tenant_9", "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736"},
  "events": [`)
	for i := range 24 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `
    {
      "id": "evt_%04d",
      "kind": "tool_call",
      "at": "2026-04-25T12:%02d:07.25Z",
      "tool": {"name": "http.fetch", "version": "1.4.%d"},
      "input_hash": "sha256:%064x",
      "summary": "Read \"page %d\" of the ledger\nand compared the totals of each account",
      "cost": {"usd": %d.50, "tokens": %d, "ratio": 0.%d25},
      "ok": true,
      "error": null
    }`, i, i, i, i*7919+1, i, i%3, i*311, i%9+1)
	}
	b.WriteString(`
  ],
  "chain": {
    "receipt_hash": "sha256:2222222222222222222222222222222222222222222222222222222222222222",
    "previous_receipt_hash": null
  },
  "signatures": [{"key_id": "key-2026-01", "algorithm": "ed25519", "signature": "base64:AAAA"}]
}
`)
	return b.Bytes()
}

func BenchmarkParse(b *testing.B) {
	src := receiptLike()
	var d Document
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Parse(src, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCanonical measures the work that a stream does for each receipt, except SHA-256.
func BenchmarkCanonical(b *testing.B) {
	src := receiptLike()
	var d Document
	var dst []byte
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Parse(src, Limits{}); err != nil {
			b.Fatal(err)
		}
		dst = d.AppendCanonical(dst[:0])
	}
}

func BenchmarkDigest(b *testing.B) {
	src := receiptLike()
	var d Document
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Parse(src, Limits{}); err != nil {
			b.Fatal(err)
		}
		root := d.Root()
		d.Digest(root.Member("chain").Member("receipt_hash"), root.Member("signatures"))
	}
}

func BenchmarkSum(b *testing.B) {
	src := receiptLike()
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		Sum(src)
	}
}

// BenchmarkTransform and BenchmarkReference measure the same task: they process one document at a
// time and reuse no memory.
func BenchmarkTransform(b *testing.B) { benchmarkBoth(b, Transform) }

func BenchmarkReference(b *testing.B) { benchmarkBoth(b, Reference) }

func benchmarkBoth(b *testing.B, transform func([]byte) ([]byte, error)) {
	pretty := receiptLike()
	compact, err := Transform(pretty)
	if err != nil {
		b.Fatal(err)
	}
	for i, src := range [][]byte{compact, pretty} {
		b.Run([]string{"compact", "pretty"}[i], func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := transform(src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
