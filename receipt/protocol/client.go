package protocol

import (
	"bytes"
	"net"
	"net/http"
	"net/netip"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
)

// A Client is the sender of a request. The zero value represents nobody: it has no scope and sees
// nothing.
type Client struct {
	// Name is the client's name in logs. Clients with the same name share their limits; if there is
	// no name, each address has its own limits.
	Name string

	// Actor distinguishes the client from all others, and does not change while the client exists.
	// Responses to an Idempotency-Key are remembered per actor. Zero means unknown, so the client
	// may not send an Idempotency-Key.
	Actor [32]byte

	Scopes    []Scope // scopes that the client has
	AllScopes bool    // the client has every scope for every route
	Reach     Reach   // the streams that the client may see

	anyone bool // represents all clients together
}

// An Authenticator determines which client sent a request. [APIKeys] is one. Authenticate is called
// for each request, and again while an event stream is open. It must be safe for concurrent use and
// must not read the body.
type Authenticator interface {
	// Authenticate returns the client. If the error is an [*Error], it is the response, such as 401
	// for invalid credentials or 503 while they cannot be checked. Any other error results in 500.
	// A nil client without an error results in 401.
	Authenticate(r *http.Request) (*Client, error)
}

// anyone returns the client for a server without authentication. It has all scopes, sees
// everything, and represents all clients together, including for an Idempotency-Key.
func anyone() *Client { return &Client{AllScopes: true, Reach: Everything(), anyone: true} }

// permits reports whether the client may use a route that requires a scope. Every client may use a
// route without a scope.
func (c *Client) permits(s Scope) bool {
	switch {
	case s == "":
		return true
	case s == Operator:
		return c.AllScopes && c.Reach.All()
	}
	return c.AllScopes || slices.Contains(c.Scopes, s)
}

// Sees reports whether the client may see values with the given visibility.
func (c *Client) Sees(visibility string) bool {
	switch visibility {
	case "public":
		return true
	case "internal":
		return c.permits(InternalRead)
	}
	return c.permits(ReceiptOnlyRead)
}

// Visible returns the part of a JSON text that the client may see. Parts of messages, artifacts,
// and other objects may have a member visibility. Everyone may see the value "public", and clients
// with the scope [InternalRead] may also see "internal"; any other value requires
// [ReceiptOnlyRead]. An object that the client may not see is removed if it is an element of an
// array. Elsewhere, only its members id, object, and visibility are kept, if they are strings. A
// text without such objects is returned unchanged.
//
// A [Mux] calls Visible for each JSON response and each event. A harness calls it for data that it
// passes on to others, such as a model: new(Client).Visible returns the public part.
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

// repeats returns nil if the client's requests may have an Idempotency-Key. Otherwise, it returns
// the error 400, because responses to clients that cannot be distinguished are not remembered.
func (c *Client) repeats() error {
	if c.anyone || c.Actor != [32]byte{} {
		return nil
	}
	return &Error{Code: CodeInvalid, Param: IdempotencyHeader, Message: "this server cannot distinguish its clients, so it accepts no Idempotency-Key"}
}

// Share identifies the client for shared limits: by its name, or if it has none, by the address of
// the request. Only the first half of an IPv6 address counts, because the client chooses the second
// half.
func (c *Client) Share(r *http.Request) string {
	if c.Name != "" {
		return "key " + c.Name
	}

	// Without a name, clients are distinguished by address.
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

// A view is the part of a document that a client may see; it is written while the document is read.
type view struct {
	client *Client
	text   []byte
	hidden int // objects that the client may not see
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

// isName reports whether a member is kept in an object that the client may not see.
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

// sees reports whether the client may see a value.
func (v *view) sees(n canon.Node) bool {
	if n.Kind() != canon.KindObject {
		return true
	}
	visibility := n.Member("visibility")
	return visibility.Kind() != canon.KindString || v.client.Sees(visibility.String())
}
