package conformance_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/harness/conformance"
	"github.com/receiptkit/receiptkit/harness/internal/harness"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// An honest harness conforms to the protocol and has three clients: the first has full access, the
// second sees no data, and the third sees only public parts.
type honest struct {
	handler http.Handler
	keys    [3]string
	also    map[protocol.Scope]string // keys of clients that see the public parts and the parts of one scope
	trust   *keys.Set
	private *keys.PrivateKey
}

func readKeys[T any](t testing.TB, file string, parse func([]byte) (T, error)) T {
	t.Helper()
	text, err := os.ReadFile("../../fixtures/keys/" + file)
	if err != nil {
		t.Fatal(err)
	}
	value, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func newHonest(t testing.TB) *honest {
	t.Helper()
	return newHonestOf(t, nil)
}

// newHonestOf returns a harness with the given model, or with the scripted model if model is nil.
func newHonestOf(t testing.TB, model harness.Provider) *honest {
	t.Helper()
	valid := func(text []byte) (*keys.Set, error) { // the keys have a start date, so there are times at which they are not valid
		return keys.ParseSet(bytes.ReplaceAll(text, []byte(`"kid": "key_2026_04",`), []byte(`"kid": "key_2026_04", "nbf": 1700000000,`)))
	}
	o := &honest{trust: readKeys(t, "trust.json", valid), private: readKeys(t, "key_2026_04.private.json", keys.ParsePrivate)}

	// The second client sees only a workspace that does not exist, and the other clients see only
	// some parts.
	var entries []protocol.APIKey
	add := func(name string, workspaces []string, hidden ...protocol.Scope) string {
		text, entry, err := protocol.NewAPIKey(rand.Reader, name, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if workspaces != nil {
			entry.Reach = entry.Reach.OfWorkspaces(workspaces...)
		}
		entry.Scopes = slices.DeleteFunc(harness.Scopes(), func(s protocol.Scope) bool { return slices.Contains(hidden, s) })
		entries = append(entries, entry)
		return text
	}
	o.keys = [3]string{add("client-a", nil), add("client-b", []string{"workspace_of_nobody"}), add("client-c", nil, protocol.InternalRead, protocol.ReceiptOnlyRead)}
	o.also = map[protocol.Scope]string{
		protocol.InternalRead:    add("client-d", nil, protocol.ReceiptOnlyRead),
		protocol.ReceiptOnlyRead: add("client-e", nil, protocol.InternalRead),
	}
	clients, err := protocol.NewAPIKeys(entries...)
	if err != nil {
		t.Fatal(err)
	}
	h, err := harness.Open(harness.Options{Dir: t.TempDir(), Issuer: "harness_example_cloud", Signer: keys.NewSigner(o.private, time.Now), Trust: o.trust, Auth: clients, Provider: model})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	o.handler = h.Handler()
	return o
}

// ask runs probes against a handler that wraps the harness.
func (o *honest) ask(t testing.TB, handler http.Handler, categories ...string) *conformance.Report {
	t.Helper()
	report, err := o.run(t.Context(), handler, categories...)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func (o *honest) run(ctx context.Context, handler http.Handler, categories ...string) (*conformance.Report, error) {
	server := httptest.NewServer(handler)
	defer server.Close()
	options := conformance.Options{Now: time.Now, Random: rand.Reader, Categories: categories, Timeout: 20 * time.Second}
	if o.trust != nil {
		options.Trust = o.trust
	}
	return conformance.Run(ctx, conformance.Target{URL: server.URL, Key: o.keys[0], OtherKey: o.keys[1], PublicKey: o.keys[2], Script: conformance.Script{Waits: "/wait"}}, options)
}

// TestHonest verifies that a conforming harness has no failures, and that only probes for features
// that the harness lacks are skipped.
func TestHonest(t *testing.T) {
	o := newHonest(t)
	report := o.ask(t, o.handler)
	if err := report.Err(); err != nil {
		t.Error(err)
	}
	var skipped []string
	for _, c := range report.Categories {
		for _, test := range c.Tests {
			t.Logf("%-16s %-40s %-8s %5d ms %s", c.Name, test.Name, test.Status, test.DurationMS, test.Note)
			if test.Status == conformance.Skipped {
				skipped = append(skipped, test.Name)
			}
		}
	}
	if !slices.Equal(skipped, []string{"vault_crud", "webhook_connector_shape", "extended_form"}) || report.CardDialect != "agent_card" || report.Summary.Total != len(conformance.Probes()) {
		t.Errorf("skipped: %q; the card: %q; %+v", skipped, report.CardDialect, report.Summary)
	}
}

// TestWithoutTrust verifies that, without trusted keys, only the content of receipts is verified
// and the report makes no statement about signatures.
func TestWithoutTrust(t *testing.T) {
	o := newHonest(t)
	o.trust = nil
	if err := o.ask(t, o.handler, "level-receipts", "level-replay").Err(); err != nil {
		t.Error(err)
	}
}
