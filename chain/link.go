package chain

import (
	"cmp"

	"github.com/receiptkit/receiptkit/canon"
)

// A Stream identifies a chain of receipts that have the same issuer, the same tenant or no tenant,
// and the same workspace. An absent tenant is different from every tenant that is present.
type Stream struct {
	Issuer    string // issuer.id
	Tenant    string // identifiers.tenant_id
	HasTenant bool   // tenant_id is present
	Workspace string // identifiers.workspace_ref
}

// StreamOf returns the stream to which a receipt or a draft belongs.
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

// Compare compares streams by issuer, then by tenant (with an absent tenant first), and then by
// workspace.
func (s Stream) Compare(t Stream) int {
	return cmp.Or(cmp.Compare(s.Issuer, t.Issuer), compareBool(s.HasTenant, t.HasTenant),
		cmp.Compare(s.Tenant, t.Tenant), cmp.Compare(s.Workspace, t.Workspace))
}

// A Head is the end of a stream: the hash of the last receipt, and the number of receipts up to and
// including it, or 0 if that number is not known. The zero Head represents the end of an empty
// stream, because no receipt has a hash of 32 zero bytes.
type Head struct {
	Hash  canon.Digest
	Count uint64
}

// IsZero reports whether the stream is empty.
func (h Head) IsZero() bool { return h == Head{} }

// A Link is the position of a receipt in its stream, as stated by the receipt.
type Link struct {
	First    bool         // previous_receipt_hash is null
	Previous canon.Digest // zero if First
	Hash     canon.Digest // the stated receipt_hash
}

// LinkOf returns the link in a receipt. It returns false if /chain/previous_receipt_hash or
// /chain/receipt_hash is missing or malformed.
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
