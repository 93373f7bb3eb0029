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

func TestUnreportedIsBounded(t *testing.T) {
	doc, err := canon.Parse([]byte(`{"metadata":{"unreported":["/a"` + strings.Repeat(`,"/a"`, 1000) + `]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(receipt.ReadUnreported(doc.Root())); got != 1000 {
		t.Errorf("%d pointers, want %d", got, 1000)
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
