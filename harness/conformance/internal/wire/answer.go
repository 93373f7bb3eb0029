package wire

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// An Answer is the response to a request, together with the first expectation that it did not meet.
// After the first failure, further expectations have no effect, so calls can be chained:
//
//	client.Do(ctx, r).Status(200).Object("task").Has("id").Err
type Answer struct {
	Request Request
	Code    int
	Header  http.Header
	Body    []byte
	Err     error

	doc    *canon.Document
	broken error // explains why the body is not JSON
}

func (a *Answer) fail(err error) *Answer {
	if a.Err == nil {
		a.Err = err
	}
	return a
}

// Fail records that the response is not as expected. The format must quote and truncate text from
// the server.
func (a *Answer) Fail(format string, args ...any) *Answer {
	return a.fail(fmt.Errorf("%s: %s", a.Request, fmt.Sprintf(format, args...)))
}

// parse parses the body as JSON. If the body is not JSON, the first method that needs a value
// reports the problem.
func (a *Answer) parse() {
	a.doc, a.broken = canon.Parse(a.Body)
}

// Root returns the JSON value in the body, or the zero node if the body is not JSON.
func (a *Answer) Root() canon.Node {
	if a.doc == nil {
		return canon.Node{}
	}
	return a.doc.Root()
}

// Is reports whether the status is one of codes and no expectation has failed.
func (a *Answer) Is(codes ...int) bool { return a.Err == nil && slices.Contains(codes, a.Code) }

// Status expects one of the given statuses.
func (a *Answer) Status(codes ...int) *Answer {
	if a.Err != nil || slices.Contains(codes, a.Code) {
		return a
	}
	var want []string
	for _, code := range codes {
		want = append(want, strconv.Itoa(code))
	}
	said := ""
	if code := a.Root().Member("error").Member("code"); code.Kind() == canon.KindString {
		said = ", " + Quote(code.String())
	}
	return a.Fail("expected the status %s, found %d%s", strings.Join(want, " or "), a.Code, said)
}

// JSON expects a body that is strict JSON.
func (a *Answer) JSON() *Answer {
	if a.Err == nil && a.doc == nil {
		a.Fail("expected a strict JSON text, found none: %s", untrusted.Escape(untrusted.Cut(a.broken.Error(), 2*maxEcho)))
	}
	return a
}

// Object expects an object that has the given discriminator.
func (a *Answer) Object(kind string) *Answer { return a.Equal("object", kind) }

// Equal expects that a member is the given string.
func (a *Answer) Equal(name, want string) *Answer {
	a.Has(name)
	if got := a.Root().Member(name).String(); a.Err == nil && got != want {
		a.Fail("expected %s to be %q, found %s", name, want, Quote(got))
	}
	return a
}

// Has expects that members are non-empty strings.
func (a *Answer) Has(names ...string) *Answer {
	a.JSON()
	for _, name := range names {
		a.kind(name, canon.KindString)
		if a.Err == nil && a.Root().Member(name).String() == "" {
			a.Fail("expected a text as %s, found an empty one", name)
		}
	}
	return a
}

// Array expects that a member is an array.
func (a *Answer) Array(name string) *Answer { return a.JSON().kind(name, canon.KindArray) }

// Members expects that a member is an object.
func (a *Answer) Members(name string) *Answer { return a.JSON().kind(name, canon.KindObject) }

// Bool expects that a member is true or false.
func (a *Answer) Bool(name string) *Answer { return a.JSON().kind(name, canon.KindBool) }

func (a *Answer) kind(name string, want canon.Kind) *Answer {
	if got := a.Root().Member(name).Kind(); a.Err == nil && got != want {
		a.Fail("expected %s as %s, found %s", KindName(want), name, KindName(got))
	}
	return a
}

// List expects the members that every list has: an array named data and a string named object.
func (a *Answer) List() *Answer { return a.Array("data").kind("object", canon.KindString) }

// Error expects the protocol's error envelope with one of the given codes.
func (a *Answer) Error(codes ...protocol.Code) *Answer {
	a.Members("error")
	e := a.Root().Member("error")
	code := e.Member("code")
	switch {
	case a.Err != nil:
	case code.Kind() != canon.KindString:
		a.Fail("expected a text as error.code, found %s", KindName(code.Kind()))
	case !slices.Contains(codes, protocol.Code(code.String())):
		var want []string
		for _, c := range codes {
			want = append(want, string(c))
		}
		a.Fail("expected the error %s, found %s", strings.Join(want, " or "), Quote(code.String()))
	}
	return a
}

// Quote quotes and truncates text from the server.
func Quote(text string) string { return untrusted.Quote(text, maxEcho) }

// Tells reports whether the body contains the given text, either literally or with JSON escapes.
func (a *Answer) Tells(text string) bool {
	return bytes.Contains(a.Body, []byte(text)) || a.doc != nil && bytes.Contains(a.doc.AppendCanonical(nil), []byte(text))
}

// Without returns the canonical form of the body without the given member, which differs in each
// response. It returns "" if the body is not JSON.
func (a *Answer) Without(outer, inner string) string {
	if a.doc == nil {
		return ""
	}
	if n := a.Root().Member(outer).Member(inner); !n.IsZero() {
		return string(a.doc.AppendCanonical(nil, n))
	}
	return string(a.doc.AppendCanonical(nil))
}
