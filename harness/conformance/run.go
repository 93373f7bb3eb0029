package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/harness/conformance/internal/wire"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// A Target is the server to check.
type Target struct {
	URL string // base URL (http or https), including the path prefix of all routes, if any
	Key string // API key; if empty, no key is sent

	// OtherKey is the API key of a client that must not see the resources that the client with Key
	// creates. For example, it may belong to another tenant. If it is empty, isolation is not
	// checked.
	OtherKey string

	// PublicKey is the API key of a client that sees the same resources as the client with Key, but
	// only the public parts of messages. If it is empty, the visibility of parts is not checked.
	PublicKey string

	// Client sends the requests. Only its Transport is used. If it is nil, a client with a separate
	// transport is used.
	Client *http.Client

	WorkspaceID string // ID of an existing workspace; if empty, a workspace is created
	SessionID   string // ID of an existing session; if empty, a session is created

	Script Script
}

// A Script contains inputs that make a task behave in a particular way. If an input is missing,
// that behavior is tested in another way or not at all.
type Script struct {
	Waits    string // makes a task run until it is canceled
	Unstored string // makes a task use an answer that is not stored, so that the task cannot be replayed exactly
}

// Options specifies the probes to run and the requirements for receipts.
type Options struct {
	Suites     []Suite  // empty: all
	Categories []string // names of categories, in the order in which to run them; if empty, all categories of the suites

	Trust  receipt.Trust // trusted keys; if nil, content is verified but signatures are not
	Policy receipt.Policy

	// Card is the discriminator that the agent card must have, "agent_card" or "harn_agent_card".
	// The protocol's documents disagree about this discriminator. "": either.
	Card string

	Timeout time.Duration    // timeout of each request (default: 30 s)
	Now     func() time.Time // required
	Random  io.Reader        // required; used for the names of the resources that a run creates
	Done    func(Test)       // called with the result of each probe; may be nil
}

// Run checks a server and returns a report. The report contains all failures. An error indicates
// that the server could not be checked, because the target is unusable (*TargetError), a category
// does not exist (*CategoryError), or the context has ended.
func Run(ctx context.Context, t Target, o Options) (*Report, error) {
	if o.Now == nil || o.Random == nil {
		return nil, errors.New("conformance: no Now or no Random in the options")
	}
	base, err := baseOf(t.URL)
	if err != nil {
		return nil, err
	}
	probes, err := o.probes()
	if err != nil {
		return nil, err
	}
	s, err := newSuite(base, t, o)
	if err != nil {
		return nil, err
	}
	defer s.client.Close()

	began := o.Now()
	r := &Report{Schema: ReportSchema, Target: base, ProtocolVersion: protocol.Version, GeneratedAt: began.UTC().Format(time.RFC3339), Categories: []Category{}}
	for len(probes) > 0 {
		n := 1
		for n < len(probes) && probes[n].Category == probes[0].Category {
			n++
		}
		r.add(category(ctx, s, probes[:n]))
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("conformance: the run was ended: %w", context.Cause(ctx))
		}
		probes = probes[n:]
	}
	r.Capabilities, r.CardDialect = s.advertised, s.dialect
	r.finish(o.Now().Sub(began))
	return r, nil
}

// A TargetError indicates an unusable address.
type TargetError struct{ Reason string }

func (e *TargetError) Error() string { return "conformance: the target: " + e.Reason }

// baseOf returns the URL to which request paths are appended.
func baseOf(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "", &TargetError{"expected a URL such as http://127.0.0.1:8080, found none"} // the address may contain a password
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "", &TargetError{"expected a URL with http or https and a host, such as http://127.0.0.1:8080, found none"}
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", &TargetError{"expected a URL without user, query and fragment, found one with them"}
	}
	return strings.TrimSuffix(u.String(), "/") + "/", nil
}

// A CategoryError indicates that a category does not exist.
type CategoryError struct{ Name string }

func (e *CategoryError) Error() string {
	return fmt.Sprintf("conformance: expected a category of %s, found %s", strings.Join(Categories(), ", "), wire.Quote(e.Name))
}

// probes returns the probes to run.
func (o *Options) probes() (list []Probe, err error) {
	all, names := Probes(), o.Categories
	if len(names) == 0 {
		names = Categories(o.Suites...)
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		found := slices.Clone(all)
		found = slices.DeleteFunc(found, func(p Probe) bool { return p.Category != name })
		if len(found) == 0 {
			return nil, &CategoryError{name}
		}
		list = append(list, found...)
	}
	return list, nil
}

// probeLasts is the time limit for a probe, as a multiple of the request timeout.
const probeLasts = 8

// category runs the probes of one category.
func category(ctx context.Context, s *suite, probes []Probe) Category {
	began := s.now()
	c := Category{Name: probes[0].Category, Tests: []Test{}}
	for _, p := range probes {
		if ctx.Err() != nil {
			break
		}
		t := try(ctx, s, p)
		c.Tests = append(c.Tests, t)
		if s.options.Done != nil && ctx.Err() == nil {
			s.options.Done(t)
		}
	}
	c.DurationMS = s.now().Sub(began).Milliseconds()
	return c
}

// try runs one probe.
func try(ctx context.Context, s *suite, p Probe) Test {
	ctx, cancel := context.WithTimeout(ctx, probeLasts*s.client.Timeout())
	defer cancel()

	began := s.now()
	s.note = ""
	err := caught(func() { p.run(ctx, s) })
	t := Test{Name: p.Name, Status: Passed, DurationMS: s.now().Sub(began).Milliseconds(), Note: s.watch.Withhold(s.note)}
	if reason, ok := isSkip(err); ok {
		t.Status, t.Note = Skipped, s.watch.Withhold(reason)
	} else if err != nil {
		oneLine := strings.ReplaceAll(s.watch.Withhold(err.Error()), "\n", "; ") // joined errors
		t.Status, t.Error, t.Rule = Failed, oneLine, &p.Rule
	}
	return t
}
