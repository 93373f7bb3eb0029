package survey

import (
	"encoding/binary"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
)

// A streamKey identifies a stream by a byte slice that can be used as a map key without allocating
// a string. It consists of the strings in the stream's name, each preceded by its length, and of a
// byte that states whether there is a tenant.
type streamKey []byte

// appendReceipt appends the key for the stream of a receipt.
func (k streamKey) appendReceipt(root canon.Node) streamKey {
	identifiers := root.Member("identifiers")
	tenant := identifiers.Member("tenant_id")
	return k.appendParts(root.Member("issuer").Member("id").Text(), tenant.Text(), !tenant.IsZero(), identifiers.Member("workspace_ref").Text())
}

// appendStream appends the key for a stream.
func (k streamKey) appendStream(s chain.Stream) streamKey {
	return k.appendParts([]byte(s.Issuer), []byte(s.Tenant), s.HasTenant, []byte(s.Workspace))
}

func (k streamKey) appendParts(issuer, tenant []byte, hasTenant bool, workspace []byte) streamKey {
	k = append(appendText(k, issuer), flag(hasTenant))
	if hasTenant {
		k = appendText(k, tenant)
	}
	return appendText(k, workspace)
}

// Stream returns the stream that the key identifies.
func (k streamKey) Stream() (s chain.Stream) {
	u := unpacker{rest: k}
	s.Issuer, s.HasTenant = u.text(), u.byte() == 1
	if s.HasTenant {
		s.Tenant = u.text()
	}
	s.Workspace = u.text()
	return s
}

func appendText(b, text []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}
