package receipt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

func TestUnreported(t *testing.T) {
	tests := map[string]struct {
		metadata string
		want     receipt.Pointers
	}{
		"none":          {`{}`, nil},
		"listed":        {`{"unreported":["/approvals","/cost/total"]}`, receipt.Pointers{"/approvals", "/cost/total"}},
		"foreign":       {`{"unreported":["cost",1,null,["/a"],"/cost"]}`, receipt.Pointers{"/cost"}},
		"no list":       {`{"unreported":"/cost"}`, nil},
		"no metadata":   {`[]`, nil},
		"within a list": {`{"unreported":["/cost/provider_breakdown/0/amount"]}`, receipt.Pointers{"/cost/provider_breakdown/0/amount"}},
	}
	for name, test := range tests {
		doc, err := canon.Parse(fmt.Appendf(nil, `{"metadata":%s}`, test.metadata))
		if err != nil {
			t.Fatal(name, err)
		}
		if got := receipt.ReadUnreported(doc.Root()); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestUnreportedIsWhole verifies that the list for a long task contains all pointers, regardless of
// their order. If a pointer were missing, the value would be treated as recorded.
func TestUnreportedIsWhole(t *testing.T) {
	const calls = 2000
	var list []string
	for i := range calls {
		list = append(list, fmt.Sprintf("/side_effects/tool_calls/%d/status", calls-i))
	}
	list = append(list, "/trust/start_tier")
	doc, err := canon.Parse([]byte(`{"metadata":{"unreported":["` + strings.Join(list, `","`) + `"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	got := receipt.ReadUnreported(doc.Root())
	for _, pointer := range list {
		if !got.Has(pointer) || !got.Has(pointer+"/x") || got.Has(pointer+"x") {
			t.Fatalf("%s: %v, below it %v, for a sibling %v", pointer, got.Has(pointer), got.Has(pointer+"/x"), got.Has(pointer+"x"))
		}
	}
	if got.Has("/side_effects/tool_calls") || got.Has("/side_effects/tool_calls/0/status") {
		t.Error("an unlisted member is handled as unreported")
	}
}

// TestUnreportedIsBounded verifies that a list longer than any receipt needs uses no additional
// memory.
func TestUnreportedIsBounded(t *testing.T) {
	const most = 1 << 18
	doc, err := canon.Parse([]byte(`{"metadata":{"unreported":["/a"` + strings.Repeat(`,"/a"`, most) + `]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(receipt.ReadUnreported(doc.Root())); got != most {
		t.Errorf("%d pointers, want %d", got, most)
	}
}

func TestAtMost(t *testing.T) {
	doc, err := canon.Parse([]byte(`{"metadata":{"unreported":["/approvals"],"at_most":["/cost/total",7,"cost"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	list := receipt.ReadAtMost(doc.Root())
	if !slices.Equal(list, receipt.Pointers{"/cost/total"}) || !list.Has("/cost/total") || list.Has("/cost") || list.Has("/approvals") {
		t.Errorf("%q", list)
	}
}

func TestUnreportedHas(t *testing.T) {
	list := receipt.Pointers{"/approvals", "/cost/total"}
	for pointer, want := range map[string]bool{
		"/cost/total": true, "/cost": false, "/cost/totals": false, "/cost/currency": false,
		"/approvals": true, "/approvals/0/actor": true, "/approval": false, "": false,
	} {
		if got := list.Has(pointer); got != want {
			t.Errorf("%q: %v, want %v", pointer, got, want)
		}
	}
}
