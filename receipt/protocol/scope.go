package protocol

import (
	"slices"

	"github.com/receiptkit/receiptkit/chain"
)

// A Scope is an action that the holder of an API key may perform. A server specifies its scopes
// when it reads its keys.
type Scope string

// The scopes of the protocol.
const (
	SessionsRead   Scope = "sessions:read"
	SessionsWrite  Scope = "sessions:write"
	TasksRead      Scope = "tasks:read"
	TasksWrite     Scope = "tasks:write"
	EventsRead     Scope = "events:read"
	ArtifactsRead  Scope = "artifacts:read"
	ArtifactsWrite Scope = "artifacts:write"
	ReceiptsRead   Scope = "receipts:read"

	// Access to data that is not public. Without these scopes, a client never sees such data in a
	// response.
	InternalRead    Scope = "internal:read"
	ReceiptOnlyRead Scope = "receipt_only:read"
)

// Scopes returns the scopes of the protocol.
func Scopes() []Scope {
	return []Scope{SessionsRead, SessionsWrite, TasksRead, TasksWrite, EventsRead, ArtifactsRead, ArtifactsWrite, ReceiptsRead, InternalRead, ReceiptOnlyRead}
}

// Operator is the scope of routes that describe all clients together. A key cannot have it by name;
// only a key without scopes and without a reach is accepted.
const Operator Scope = "operator"

// A Reach describes which streams a client may see. The zero value sees nothing; [Everything] sees
// all streams, and its Of methods narrow it. A Reach is immutable.
type Reach struct {
	granted    bool
	issuers    []string // issuer.id; nil means any, as in the next two lists
	tenants    []string // identifiers.tenant_id
	workspaces []string // identifiers.workspace_ref
}

// Everything returns the reach of a client that may see all streams.
func Everything() Reach { return Reach{granted: true} }

// OfIssuers returns the part of r that belongs to one of the issuers. Without arguments,
// it is empty.
func (r Reach) OfIssuers(ids ...string) Reach {
	r.issuers = narrow(r.issuers, ids)
	return r
}

// OfTenants returns the part of r that belongs to one of the tenants. Without arguments, it is
// empty. Streams without a tenant belong to no tenant.
func (r Reach) OfTenants(ids ...string) Reach {
	r.tenants = narrow(r.tenants, ids)
	return r
}

// OfWorkspaces returns the part of r that belongs to one of the workspaces. Without
// arguments, it is empty.
func (r Reach) OfWorkspaces(refs ...string) Reach {
	r.workspaces = narrow(r.workspaces, refs)
	return r
}

// narrow returns the names in both lists. A nil list matches any name; the result is never nil.
func narrow(before, names []string) []string {
	both := []string{}
	for _, name := range names {
		if allows(before, name) {
			both = append(both, name)
		}
	}
	return both
}

// Sees reports whether a stream is within reach.
func (r Reach) Sees(s chain.Stream) bool {
	return r.granted && allows(r.issuers, s.Issuer) && allows(r.workspaces, s.Workspace) &&
		(r.tenants == nil || s.HasTenant && slices.Contains(r.tenants, s.Tenant))
}

// All reports whether everything is within reach.
func (r Reach) All() bool {
	return r.granted && r.issuers == nil && r.tenants == nil && r.workspaces == nil
}

func allows(list []string, name string) bool { return list == nil || slices.Contains(list, name) }
