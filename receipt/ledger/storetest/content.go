package storetest

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// streams verifies that a stream without a tenant differs from a stream with an empty tenant, and
// that streams are distinct even if the concatenations of their names are equal.
func streams(t *testing.T, handle func() ledger.Store) {
	store := handle()
	names := []chain.Stream{
		{Issuer: "a", Workspace: "b"}, {Issuer: "a", Workspace: "c"}, {Issuer: "b", Workspace: "b"},
		{Issuer: "a", Tenant: "t", HasTenant: true, Workspace: "b"}, {Issuer: "a", Tenant: "b", HasTenant: true, Workspace: "t"},
		{Issuer: "a/b", Workspace: "c"}, {Issuer: "a", Workspace: "b/c"}, {Issuer: "A", Workspace: "b"}, {Issuer: "a", Workspace: "b "},
		{Issuer: "a\x00b", Workspace: "c"}, {Issuer: "a", Workspace: "b\x00c"},
	}

	// Each stream begins with its own first receipt.
	var all []*receipt.Sealed
	for i, name := range names {
		d := Draft(fmt.Sprintf("receipt_%d", i), name.Workspace)
		d.Issuer.ID, d.Identifiers.TenantID = name.Issuer, name.Tenant
		r := seal(t, d, chain.Head{})
		if r.Stream() != name {
			t.Fatalf("the receipt is of %v, expected %v", r.Stream(), name)
		}
		mustAppend(t, store, chain.Head{}, r)
		all = append(all, r)
	}

	for i, name := range names {
		wantHead(t, store, name, all[i], 1)
	}
}

// awkward contains names that a database might truncate, fold, trim, match, or refuse.
var awkward = []string{
	"\x00", "a\x00", "a\x00b", "a", "A", "a ", " a", "a\n", "\t", "a\\0b", "a%", "a_", "'", "''", "a'; DROP TABLE receipts; --", "$1", "?", "NULL", "\\",
	"\u00e9", "e\u0301", "\u00df", "ss", "I", "\u0131", "\u2028", "\ufeffa", "\uffff", "\U0010ffff", "\u202eabc",
	strings.Repeat("long", 2000), strings.Repeat("long", 2000) + "er", incompressible(6000),
}

// incompressible returns text that an index cannot compress.
func incompressible(n int) string {
	random := rand.NewChaCha8([32]byte{})
	text := make([]byte, n/2)
	random.Read(text)
	return hex.EncodeToString(text)
}

// characters verifies that names with any characters can be stored, and that a stored name is found
// only by exactly the same name.
func characters(t *testing.T, handle func() ledger.Store) {
	store, other := handle(), handle()
	all := map[string]*receipt.Sealed{}
	for _, name := range awkward {
		d := Draft(name, name)
		d.Issuer.ID, d.Identifiers.TenantID, d.Identifiers.SessionID = name, name, name
		d.Metadata = receipt.Object{name: name}

		wantAbsent(t, other, name)
		all[name] = seal(t, d, chain.Head{})
		mustAppend(t, store, chain.Head{}, all[name])
		wantAbsent(t, other, name+"\x00never")
	}

	for _, r := range all {
		wantStored(t, other, r)
		wantHead(t, other, r.Stream(), r, 1)
	}
}

// large verifies that a receipt of the maximum size can be stored.
func large(t *testing.T, handle func() ledger.Store) {
	d := Draft("receipt_large", "w")
	d.Metadata = receipt.Object{"filling": ""}
	frame := len(seal(t, d, chain.Head{}).JSON())
	d.Metadata["filling"] = strings.Repeat("x", receipt.MaxBytes-frame)

	r := seal(t, d, chain.Head{})
	if len(r.JSON()) != receipt.MaxBytes {
		t.Fatalf("the receipt has %d bytes, expected %d", len(r.JSON()), receipt.MaxBytes)
	}

	mustAppend(t, handle(), chain.Head{}, r)
	wantStored(t, handle(), r)
}
