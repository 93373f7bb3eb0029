package protocol

import (
	"slices"

	"github.com/receiptkit/receiptkit/chain"
)

// A Reach is the receipts that a client may see, by the stream that each of them
// states. A nil list is no limit; an empty one lets nothing through. A receipt
// without a tenant is in no list of tenants. The nil Reach sees everything.
type Reach struct {
	Issuers    []string // issuer.id
	Tenants    []string // identifiers.tenant_id
	Workspaces []string // identifiers.workspace_ref
}

// Sees reports whether the receipts of a stream are within reach.
func (r *Reach) Sees(s chain.Stream) bool {
	return r.All() || allows(r.Issuers, s.Issuer) && allows(r.Workspaces, s.Workspace) &&
		(r.Tenants == nil || s.HasTenant && slices.Contains(r.Tenants, s.Tenant))
}

// All reports whether everything is within reach.
func (r *Reach) All() bool {
	return r == nil || r.Issuers == nil && r.Tenants == nil && r.Workspaces == nil
}

func allows(list []string, name string) bool { return list == nil || slices.Contains(list, name) }
