package protocol

import (
	"bytes"
	"net"
	"net/http"
	"net/netip"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
)

// A Client is the sender of a request. The zero value represents nobody, so it has no scope and
// sees nothing.
type Client struct {
	// Name is the client's name in logs. Clients with the same name share their limits; clients
	// without a name share the limits of their address.
	Name string

	// Actor distinguishes the client from all others, and must not change during the client's
	// lifetime. Responses to requests with an Idempotency-Key are remembered per actor. Zero means
	// unknown; a client with an unknown actor may not send an Idempotency-Key.
	Actor [32]byte

	Scopes    []Scope // scopes that the client has
	AllScopes bool    // the client has every scope
	Reach     Reach   // the streams that the client may see

	anyone bool // this value represents all clients together
}

// An Authenticator determines which client sent a request. [APIKeys] is one. A Mux calls
// Authenticate for each request, and again while an event stream is open. An Authenticator must be
// safe for concurrent use and must not read the body.
type Authenticator interface {
	// Authenticate returns the client. If the error is an [*Error], it is sent as the response,
	// such as 401 for invalid credentials or 503 if credentials cannot be checked at the moment.
	// Any other error results in a 500 response. A nil client with a nil error results in a 401
	// response.
	Authenticate(r *http.Request) (*Client, error)
}

// anyone returns the client for a server without authentication. This client has all scopes and
// sees everything, and it represents all clients together, even for an Idempotency-Key.
func anyone() *Client { return &Client{AllScopes: true, Reach: Everything(), anyone: true} }

// permits reports whether the client may use a route that requires a scope. Every client may use a
// route that requires no scope.
func (c *Client) permits(s Scope) bool {
	switch {
	case s == "":
		return true
	case s == Operator:
		return c.AllScopes && c.Reach.All()
	}
	return c.AllScopes || slices.Contains(c.Scopes, s)
}

// Sees reports whether the client may see objects with the given visibility.
func (c *Client) Sees(visibility string) bool {
	switch visibility {
	case "public":
		return true
	case "internal":
		return c.permits(InternalRead)
	}
	return c.permits(ReceiptOnlyRead)
}

// Visible returns the parts of a JSON text that the client may see. Message parts, artifacts, and
// other objects may have a visibility member. Objects with the value "public" are visible to
// everyone. Objects with the value "internal" are also visible to clients with the scope
// [InternalRead]; any other value requires [ReceiptOnlyRead]. If the client may not see an element
// of an array, the element is removed. Any other object that the client may not see keeps only its
// members id, object, and visibility, if they are strings. If the text contains no such objects, it
// is returned unchanged.
//
// A [Mux] calls Visible for each JSON response and each event. A harness calls it for data that it
// passes on to other parties, such as a model: new(Client).Visible returns the public part.
func (c *Client) Visible(text []byte) ([]byte, error) {
	if c.permits(InternalRead) && c.permits(ReceiptOnlyRead) {
		return text, nil
	}

	doc := new(canon.Document)
	if err := doc.Parse(text, canon.Limits{Bytes: len(text), Depth: 10_000}); err != nil {
		return nil, Internal(err, "what the client may see could not be determined")
	}
	v := view{client: c}
	if v.value(doc.Root()); v.hidden == 0 {
		return text, nil
	}
	return append(v.text, text[len(bytes.TrimRight(text, "\n")):]...), nil
}

// repeats returns nil if the client may send an Idempotency-Key. Otherwise, it returns a 400 error,
// because responses are not remembered for clients that cannot be distinguished.
func (c *Client) repeats() error {
	if c.anyone || c.Actor != [32]byte{} {
		return nil
	}
	return &Error{Code: CodeInvalid, Param: IdempotencyHeader, Message: "this server cannot distinguish its clients, so it accepts no Idempotency-Key"}
}

// Share identifies the client for shared limits. It uses the client's name or, if there is none,
// the address from which the request was sent. Only the first half of an IPv6 address is used,
// because the client chooses the second half.
func (c *Client) Share(r *http.Request) string {
	if c.Name != "" {
		return "key " + c.Name
	}

	// A client without a name is identified by its address.
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return "address " + r.RemoteAddr
	}

	if ip, err := netip.ParseAddr(host); err == nil && ip.Is6() && !ip.Is4In6() {
		if half, err := ip.WithZone("").Prefix(64); err == nil {
			host = half.String()
		}
	}
	return "address " + host
}

// A view is the part of a document that a client may see; it is written while the document is
// traversed.
type view struct {
	client *Client
	text   []byte
	hidden int // the number of objects that the client may not see
}

func (v *view) value(n canon.Node) {
	switch {
	case n.Kind() == canon.KindArray:
		v.array(n)
	case n.Kind() != canon.KindObject:
		v.text = append(v.text, n.Raw()...)
	case v.sees(n):
		v.object(n, func(canon.Node, canon.Node) bool { return true })
	default:
		v.hidden++
		v.object(n, isName)
	}
}

func (v *view) array(n canon.Node) {
	v.text = append(v.text, '[')
	begin := len(v.text)
	for _, element := range n.Elements() {
		if !v.sees(element) {
			v.hidden++
			continue
		}
		v.separate(begin)
		v.value(element)
	}
	v.text = append(v.text, ']')
}

// isName reports whether a member remains in an object that the client may not see.
func isName(name, value canon.Node) bool {
	known := name.String() == "id" || name.String() == "object" || name.String() == "visibility"
	return known && value.Kind() == canon.KindString
}

func (v *view) object(n canon.Node, keep func(name, value canon.Node) bool) {
	v.text = append(v.text, '{')
	begin := len(v.text)
	for name, value := range n.Members() {
		if !keep(name, value) {
			continue
		}
		v.separate(begin)
		v.text = append(append(v.text, name.Raw()...), ':')
		v.value(value)
	}
	v.text = append(v.text, '}')
}

func (v *view) separate(begin int) {
	if len(v.text) > begin {
		v.text = append(v.text, ',')
	}
}

// sees reports whether the client may see the given object.
func (v *view) sees(n canon.Node) bool {
	if n.Kind() != canon.KindObject {
		return true
	}
	visibility := n.Member("visibility")
	return visibility.Kind() != canon.KindString || v.client.Sees(visibility.String())
}
