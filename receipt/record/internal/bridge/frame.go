package bridge

import (
	"cmp"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A frame is a JSON-RPC message that is being translated. It has the methods of an event.
type frame struct {
	event.Event
	from   Sender
	params canon.Node
	update canon.Node // params.update of session/update

	marks   [2]canon.Node // the replayed and replay members of the event; see reading
	expects bool          // a function waits for the response to this frame
}

// Own returns the first of the named runtime-specific members that is present and not null. Newer
// dialects store such members under _meta.harn, and older dialects store them next to the standard
// members. If no such member is present, Own returns the zero Node.
func Own(of canon.Node, names ...string) canon.Node {
	for _, at := range [...]canon.Node{of.Member("_meta").Member("harn"), of} {
		for _, name := range names {
			if n := at.Member(name); !event.Absent(n) {
				return n
			}
		}
	}
	return canon.Node{}
}

// harnOf returns the object that contains a runtime-specific member.
func harnOf(of canon.Node, name string) canon.Node {
	if at := of.Member("_meta").Member("harn"); !event.Absent(at.Member(name)) {
		return at
	}
	return of
}

// str returns a runtime-specific string.
func (fr *frame) str(of canon.Node, names ...string) string {
	return fr.TextOf(Own(of, names...))
}

// executor returns the executor of a call, which is a name or an MCP server.
func (fr *frame) executor(n canon.Node) (name, server string) {
	x := Own(n, "executor")
	if x.Kind() == canon.KindObject {
		return fr.Text(x, "kind"), fr.Text(x, "serverName")
	}
	return fr.str(n, "executor"), ""
}

// declared returns the paths that a permission request announces.
func (fr *frame) declared(call canon.Node) any {
	for _, of := range [...]canon.Node{fr.params, call} {
		if n := Own(of, "declaredPaths", "declared_paths"); !event.Absent(n) {
			return n
		}
	}

	list := []byte{'['}
	for _, entry := range Own(fr.params, "declaredPathEntries").Elements() {
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = canon.AppendString(list, fr.Required(entry, "path"))
	}

	if len(list) == 1 {
		return nil
	}
	return raw(append(list, ']'))
}

// policyRef returns the policy of a mutation session: its name or, if it has no name, the digest of
// its content.
func (fr *frame) policyRef(of ...canon.Node) string {
	for _, n := range of {
		audit := Own(n, "audit", "mutation")
		if ref := fr.Text(audit, "policy_ref"); ref != "" {
			return ref
		}
		if policy := audit.Member("approval_policy"); !event.Absent(policy) {
			return event.HashOf(policy).String()
		}
	}
	return ""
}

// about returns the object that contains the members of a durable approval: params or the update.
func (fr *frame) about() canon.Node {
	if !fr.update.IsZero() {
		return fr.update
	}
	return fr.params
}

func (fr *frame) requestID() string {
	n := fr.about()
	return cmp.Or(fr.str(n, "request_id", "requestId"), fr.Text(Own(n, "approval_request", "approvalRequest"), "id"))
}

// verdict reads the approved and accepted members. The decision is an approval only if at least one
// member is present and each present member is true.
func (fr *frame) verdict() (decision string, given bool) {
	n := fr.about()
	ok := true
	for _, name := range []string{"approved", "accepted"} {
		if v := Own(n, name); !v.IsZero() {
			given, ok = true, ok && v.Bool()
		}
	}
	if given && ok {
		return event.Approved, true
	}
	return event.Denied, given
}

// The events are written with package event.
type (
	members = event.Members
	raw     = event.Raw
)
