package batch_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/receipt/batch"
)

// content returns the canonical form of a draft without a chain, which is the leaf data.
func content(id, workspace string) string {
	return head + tail(id, workspace)
}

// preimage returns the bytes that are hashed for the receipt that results from the draft. The
// member "chain" is between the members "autonomy_budget" and "cost". Previous is JSON.
func preimage(id, workspace, root, previous string) string {
	return head + `,"chain":{"merkle_root":"` + root + `","previous_receipt_hash":` + previous + `}` + tail(id, workspace)
}

const head = `{"approvals":[],"autonomy_budget":{"consumed":{}}`

func tail(id, workspace string) string {
	return `,"cost":{"currency":"USD","provider_breakdown":[],"total":0},"deltas":[],"final_artifacts":[],` +
		`"identifiers":{"session_id":"s","task_id":"t","workspace_ref":"` + workspace + `"},"issued_at":"2026-04-25T19:17:33Z",` +
		`"issuer":{"id":"harness_example","kind":"harness"},"lifecycle":{"completed_at":"2026-04-25T19:17:33Z","failure":null,` +
		`"final_state":"SUCCEEDED","started_at":"2026-04-25T19:17:33Z"},"metadata":{},"model_route":{"alternatives_considered":[],` +
		`"chosen_model":{"model":"none","provider":"none"},"route_policy_reason":"none needed"},"receipt_id":"` + id + `",` +
		`"redactions":[],"replay_input":{"determinism":"best_effort","materials":[]},"schema":"receipt-2026-04-25",` +
		`"side_effects":{"a2a_handoffs":[],"fs_writes":[],"network_egress":[],"tool_calls":[]},"subject":{"id":"t","object":"task"},` +
		`"trust":{"end_tier":"shadow","start_tier":"shadow"}}`
}

func parse(t testing.TB, text string) *canon.Document {
	t.Helper()
	doc, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// drafts returns n drafts for one workspace. Their IDs are receipt_0, receipt_1, and so on.
func drafts(t testing.TB, n int) []*canon.Document {
	t.Helper()
	list := make([]*canon.Document, n)
	for i := range list {
		list[i] = parse(t, content(name(i), "w"))
	}
	return list
}

func name(i int) string { return fmt.Sprintf("receipt_%d", i) }

// seal creates an unsigned batch that starts new streams.
func seal(t testing.TB, list []*canon.Document) *batch.Batch {
	t.Helper()
	b, err := batch.Seal(context.Background(), list, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// documents returns the parsed receipts of a batch.
func documents(t testing.TB, b *batch.Batch) []*canon.Document {
	t.Helper()
	var list []*canon.Document
	for _, r := range b.Receipts {
		list = append(list, parse(t, string(r.JSON())))
	}
	return list
}

// The oracle implements RFC 9162 section 2.1.1 with crypto/sha256.

func hash(text string) canon.Digest { return sha256.Sum256([]byte(text)) }

func leaf(text string) canon.Digest { return hash("\x00" + text) }

func node(l, r canon.Digest) canon.Digest { return hash("\x01" + string(l[:]) + string(r[:])) }

// older returns the hash of a parent node in upstream's older tree.
func older(l, r canon.Digest) canon.Digest { return hash(l.String() + r.String()) }

func stream(workspace string) chain.Stream {
	return chain.Stream{Issuer: "harness_example", Workspace: workspace}
}

// manifest returns the text of a manifest with the given leaves, receipt hashes, and stated root.
func manifest(root canon.Digest, entries ...batch.Entry) string {
	var list []string
	for _, e := range entries {
		list = append(list, fmt.Sprintf(`{"leaf_hash":%q,"receipt_hash":%q,"receipt_id":%q}`, canon.Digest(e.Leaf), e.ReceiptHash, e.ReceiptID))
	}
	return fmt.Sprintf("{\"batch_version\":1,\"merkle_root\":%q,\"profile\":\"content\",\"receipts\":[%s]}\n", root, strings.Join(list, ","))
}

// rootOf uses package merkle to compute the root.
func rootOf(entries []batch.Entry) canon.Digest {
	var tree merkle.Tree
	for _, e := range entries {
		tree.Append(e.Leaf)
	}
	return canon.Digest(tree.Root())
}
