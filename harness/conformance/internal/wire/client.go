// Package wire implements a client that sends requests to an untrusted server. Each response is
// limited in size and time. The client does not follow redirects, decompress responses, or keep
// cookies, and JSON is parsed by the strict parser of package canon. Regardless of what a server
// sends, the client uses no more resources than these limits allow.
package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// These constants limit what is read from a server and quoted in errors.
const (
	MaxBody   = canon.MaxBytes // maximum length of a body, in bytes
	MaxHeader = 64 << 10       // maximum length of a response header
	maxEcho   = 80             // maximum length of server text quoted in an error
)

// A Client sends requests to one server on behalf of one actor.
type Client struct {
	base    string
	http    *http.Client
	key     string
	timeout time.Duration
	watch   *Watch
}

// New returns a client for the server at base. The URL base must end with a slash. If given is nil,
// the client uses a separate transport. The timeout covers each request and its response. Every
// response is passed to watch.
func New(base, key string, given *http.Client, timeout time.Duration, watch *Watch) *Client {
	own := http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, MaxResponseHeaderBytes: MaxHeader, DisableCompression: true}}
	if given != nil && given.Transport != nil {
		own.Transport = given.Transport
	}
	// A redirect is returned as a response instead of being followed, so that the key is sent only
	// to the intended server.
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{base: base, http: &own, key: key, timeout: timeout, watch: watch}
}

// As returns a client for the same server that uses another key, or no key if it is "".
func (c *Client) As(key string) *Client {
	other := *c
	other.key = key
	return &other
}

// Key returns the key that the client uses, or "" if there is none.
func (c *Client) Key() string { return c.key }

// Timeout returns the time limit of a request.
func (c *Client) Timeout() time.Duration { return c.timeout }

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// A Request describes a request. The zero value of each field is its default.
type Request struct {
	Method      string // "" is GET
	Path        string // escaped path relative to the base, including the query
	Body        []byte // JSON; nil: none
	Once        string // the Idempotency-Key
	Accept      string // "" is application/json
	LastEventID string
	Version     string // if empty, the version supported by package protocol
	NoVersion   bool
	NoKey       bool
}

// String returns the request in the form used in errors.
func (r Request) String() string {
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	return method + " /" + untrusted.Escape(untrusted.Cut(r.Path, 2*maxEcho))
}

// Segment escapes an ID for use as one path segment or one query value.
func Segment(id string) string { return strings.ReplaceAll(url.QueryEscape(id), "+", "%20") }

func (c *Client) request(ctx context.Context, r Request) (*http.Request, error) {
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	var body io.Reader
	if r.Body != nil {
		body = bytes.NewReader(r.Body)
	}
	out, err := http.NewRequestWithContext(ctx, method, c.base+r.Path, body)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be requested: %w", r, plain(err))
	}

	set := func(name, value string) {
		if value != "" {
			out.Header.Set(name, value)
		}
	}
	out.Header.Set("Accept", protocol.MediaJSON)
	out.Header.Set("Accept-Encoding", "identity")
	set("Accept", r.Accept)
	set(protocol.IdempotencyHeader, r.Once)
	set("Last-Event-ID", r.LastEventID)
	if r.Body != nil {
		set("Content-Type", protocol.MediaJSON)
	}
	if !r.NoVersion {
		set(protocol.VersionHeader, protocol.Version)
		set(protocol.VersionHeader, r.Version)
	}
	if !r.NoKey && c.key != "" {
		set("Authorization", "Bearer "+c.key)
	}
	return out, nil
}

// Do sends a request and reads the answer. If the request fails, the answer records the failure.
func (c *Client) Do(ctx context.Context, r Request) *Answer {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	a := &Answer{Request: r}
	request, err := c.request(ctx, r)
	if err != nil {
		return a.fail(err)
	}

	response, err := c.http.Do(request)
	if err != nil {
		return a.fail(c.unanswered(ctx, r, err))
	}
	defer response.Body.Close()
	a.Code, a.Header = response.StatusCode, response.Header
	if a.Body, err = readAll(response.Body); err != nil {
		return a.fail(c.unanswered(ctx, r, err))
	}
	a.parse()
	c.watch.look(c.key, a)
	return a
}

// errTooLarge indicates an answer that is longer than MaxBody.
var errTooLarge = fmt.Errorf("expected an answer of at most %d bytes, found more", MaxBody)

func readAll(body io.Reader) ([]byte, error) {
	var text bytes.Buffer // the buffer doubles as it grows, so that only a few bytes of a large response are copied
	_, err := text.ReadFrom(io.LimitReader(body, MaxBody+1))
	if err == nil && text.Len() > MaxBody {
		err = errTooLarge
	}
	return text.Bytes(), err
}

// unanswered returns an explanation if there is no complete answer.
func (c *Client) unanswered(ctx context.Context, r Request, err error) error {
	switch {
	case errors.Is(err, errTooLarge):
		return fmt.Errorf("%s: %w", r, err)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%s: expected a complete answer within %s, found none", r, c.timeout)
	}
	return fmt.Errorf("%s: expected an answer, found none: %w", r, plain(err))
}

// plain removes the URL from a net/http error, because the caller reports the request.
func plain(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return errors.New(untrusted.Escape(untrusted.Cut(err.Error(), 2*maxEcho)))
}

// A Watch checks every answer for forbidden strings, and validates the form of the answer.
type Watch struct {
	Seen

	mu     sync.Mutex
	texts  []string
	hidden []string // strings that answers may contain but messages must not
	found  []string // requests whose answers contained a forbidden string
}

// Add adds a forbidden string.
func (w *Watch) Add(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if text != "" {
		w.texts = append(w.texts, text)
	}
}

// Hide adds a string that responses may contain but that messages must not show.
func (w *Watch) Hide(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hidden = append(w.hidden, text)
}

// Found returns the requests whose answers contained a forbidden string.
func (w *Watch) Found() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.found...)
}

func (w *Watch) look(key string, a *Answer) {
	if a.Code > 0 {
		w.Seen.answer(key, a)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, text := range w.texts {
		if a.Tells(text) || inHeader(a.Header, text) {
			w.found = append(w.found, a.Request.String())
			return
		}
	}
}

func inHeader(header http.Header, text string) bool {
	for _, values := range header {
		for _, value := range values {
			if strings.Contains(value, text) {
				return true
			}
		}
	}
	return false
}

// leastPart is the minimum length at which a part of a secret is withheld in a message.
const leastPart = 8

// Withhold replaces all watched strings in a message, including parts of at least leastPart bytes.
// An error may quote a response and truncate it inside a secret.
func (w *Watch) Withhold(text string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, secret := range slices.Concat(w.texts, w.hidden) {
		text = withhold(text, secret)
	}
	return text
}

func withhold(text, secret string) string {
	least := min(leastPart, len(secret))
	var out strings.Builder
	for at := 0; at < len(text); {
		size := least
		if at+size > len(text) || !strings.Contains(secret, text[at:at+size]) {
			out.WriteByte(text[at])
			at++
			continue
		}
		for at+size < len(text) && strings.Contains(secret, text[at:at+size+1]) {
			size++
		}
		out.WriteString("(withheld)")
		at += size
	}
	return out.String()
}
