package protocol

import (
	"slices"

	"github.com/receiptkit/receiptkit/chain"
)

// A Scope is a permission that an API key can have. A server specifies its scopes when it parses
// its keys.
type Scope string

// These are the scopes that the protocol defines.
const (
	SessionsRead   Scope = "sessions:read"
	SessionsWrite  Scope = "sessions:write"
	TasksRead      Scope = "tasks:read"
	TasksWrite     Scope = "tasks:write"
	EventsRead     Scope = "events:read"
	ArtifactsRead  Scope = "artifacts:read"
	ArtifactsWrite Scope = "artifacts:write"
	ReceiptsRead   Scope = "receipts:read"

	// These scopes allow access to data that is not public. A client without them never receives
	// such data in a response.
	InternalRead    Scope = "internal:read"
	ReceiptOnlyRead Scope = "receipt_only:read"
)

// Scopes returns the scopes that the protocol defines.
func Scopes() []Scope {
	return []Scope{SessionsRead, SessionsWrite, TasksRead, TasksWrite, EventsRead, ArtifactsRead, ArtifactsWrite, ReceiptsRead, InternalRead, ReceiptOnlyRead}
}

// Operator is the scope of routes whose responses describe all clients together. No key can list
// it; these routes accept only a key without any limit on scopes and reach.
const Operator Scope = "operator"

// A Reach describes which streams a client may see. The zero value allows access to no stream.
// [Everything] allows access to all streams, and its Of methods restrict this access. A Reach is
// immutable.
type Reach struct {
	granted    bool
	issuers    []string // issuer.id values; nil means any, as in the next two lists
	tenants    []string // identifiers.tenant_id
	workspaces []string // identifiers.workspace_ref
}

// Everything returns the reach of a client that may see all streams.
func Everything() Reach { return Reach{granted: true} }

// OfIssuers returns r, restricted to streams of the given issuers. If there are no arguments, the
// result contains no stream.
func (r Reach) OfIssuers(ids ...string) Reach {
	r.issuers = narrow(r.issuers, ids)
	return r
}

// OfTenants returns r, restricted to streams of the given tenants. If there are no arguments, the
// result contains no stream. Streams without a tenant are excluded.
func (r Reach) OfTenants(ids ...string) Reach {
	r.tenants = narrow(r.tenants, ids)
	return r
}

// OfWorkspaces returns r, restricted to streams of the given workspaces. If there are no arguments,
// the result contains no stream.
func (r Reach) OfWorkspaces(refs ...string) Reach {
	r.workspaces = narrow(r.workspaces, refs)
	return r
}

// narrow returns the names that are in both lists. If before is nil, it matches any name; the
// result is never nil.
func narrow(before, names []string) []string {
	both := []string{}
	for _, name := range names {
		if allows(before, name) {
			both = append(both, name)
		}
	}
	return both
}

// Sees reports whether the reach includes a stream.
func (r Reach) Sees(s chain.Stream) bool {
	return r.granted && allows(r.issuers, s.Issuer) && allows(r.workspaces, s.Workspace) &&
		(r.tenants == nil || s.HasTenant && slices.Contains(r.tenants, s.Tenant))
}

// All reports whether the reach includes everything.
func (r Reach) All() bool {
	return r.granted && r.issuers == nil && r.tenants == nil && r.workspaces == nil
}

func allows(list []string, name string) bool { return list == nil || slices.Contains(list, name) }
