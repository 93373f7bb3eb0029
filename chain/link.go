package chain

import (
	"cmp"

	"github.com/receiptkit/receiptkit/canon"
)

// A Stream names the receipts that form one chain: those of one issuer, one
// tenant or none, and one workspace. An absent tenant differs from every
// present one.
type Stream struct {
	Issuer    string // issuer.id
	Tenant    string // identifiers.tenant_id
	HasTenant bool   // whether tenant_id is there
	Workspace string // identifiers.workspace_ref
}

// StreamOf returns the stream of a receipt or draft.
func StreamOf(d *canon.Document) Stream {
	identifiers := d.Root().Member("identifiers")
	tenant := identifiers.Member("tenant_id")
	return Stream{
		Issuer:    d.Root().Member("issuer").Member("id").String(),
		Tenant:    tenant.String(),
		HasTenant: !tenant.IsZero(),
		Workspace: identifiers.Member("workspace_ref").String(),
	}
}

// Compare orders streams by issuer, tenant (the absent one first) and workspace.
func (s Stream) Compare(t Stream) int {
	return cmp.Or(cmp.Compare(s.Issuer, t.Issuer), compareBool(s.HasTenant, t.HasTenant),
		cmp.Compare(s.Tenant, t.Tenant), cmp.Compare(s.Workspace, t.Workspace))
}

// A Head is the end of a stream: the hash of its last receipt, and how many
// receipts lead to it when that is known (0 otherwise). The zero Head is the
// end of an empty stream; no receipt hashes to 32 zero bytes.
type Head struct {
	Hash  canon.Digest
	Count uint64
}

// IsZero reports whether the stream is empty.
func (h Head) IsZero() bool { return h == Head{} }

// A Link is the place of one receipt in its stream, as the receipt states it.
type Link struct {
	First    bool         // previous_receipt_hash is null
	Previous canon.Digest // zero when First
	Hash     canon.Digest // the stated receipt_hash
}

// LinkOf reads the link that a receipt states. It reports false when
// /chain/previous_receipt_hash or /chain/receipt_hash is missing or malformed.
func LinkOf(d *canon.Document) (Link, bool) {
	chain := d.Root().Member("chain")
	previous := chain.Member("previous_receipt_hash")
	hash, err := canon.ParseDigest(chain.Member("receipt_hash").Text())
	if err != nil {
		return Link{}, false
	}
	if previous.Kind() == canon.KindNull {
		return Link{First: true, Hash: hash}, true
	}
	digest, err := canon.ParseDigest(previous.Text())
	if err != nil {
		return Link{}, false
	}
	return Link{Previous: digest, Hash: hash}, true
}
