package receipt_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// sameReport verifies that the two ways to write a report produce the same bytes.
func sameReport(t testing.TB, name string, r *receipt.Report) {
	t.Helper()
	want, wrong := receipt.AppendJSON([]byte("before"), struct{ *receipt.Report }{r}) // encoded by reflection
	got, err := receipt.AppendJSON([]byte("before"), r)
	if !bytes.Equal(got, want) || (err == nil) != (wrong == nil) {
		t.Errorf("%s: %v %v\ngot  %s\nwant %s", name, err, wrong, got, want)
	}
}

// TestReportJSON verifies that the fast path writes the same bytes as encoding/json, for every
// fixture and for a report with all members.
func TestReportJSON(t *testing.T) {
	text, err := fixtures.Read("keys/trust.json")
	if err != nil {
		t.Fatal(err)
	}
	set, err := keys.ParseSet(text)
	if err != nil {
		t.Fatal(err)
	}
	v, err := receipt.NewVerifier(set, receipt.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := fixtures.Load()
	if err != nil || len(manifest.Cases) < 100 {
		t.Fatal(err)
	}
	for _, c := range manifest.Cases {
		text, err := fixtures.Read(c.File)
		if err != nil {
			t.Fatal(err)
		}
		rep := &receipt.Report{Source: c.File}
		v.VerifyBytes(text, new(canon.Document), rep)
		sameReport(t, c.File, rep)
	}
	sameReport(t, "zero", new(receipt.Report))
	for i, empty := range []func(*receipt.Report){
		func(r *receipt.Report) { r.Version = -1 }, func(r *receipt.Report) { r.Checks = nil }, func(r *receipt.Report) { r.Signatures = nil },
		func(r *receipt.Report) { r.NotChecked = nil }, func(r *receipt.Report) { r.Warnings = nil },
	} {
		r := new(receipt.Report)
		fill(reflect.ValueOf(r).Elem(), "plain")
		empty(r)
		sameReport(t, fmt.Sprintf("not as a verifier leaves it, %d", i), r)
	}
	if text, err := receipt.AppendJSON(nil, (*receipt.Report)(nil)); err != nil || string(text) != "null" {
		t.Errorf("no report: %s, %v", text, err)
	}
	for c := range 256 { // a character that must be escaped
		r := new(receipt.Report)
		fill(reflect.ValueOf(r).Elem(), string([]byte{'a', byte(c), 'b'}))
		sameReport(t, fmt.Sprintf("byte %#x", c), r)
	}
	for _, hard := range []string{"plain", "", `"\`, "<&>", "\x00\n\x7f\u0085", "é世\U0001f600", "\u202e\u2028\ufeff", "\xff\xc0", strings.Repeat("a", 300) + "\t"} {
		r := new(receipt.Report)
		fill(reflect.ValueOf(r).Elem(), hard)
		sameReport(t, hard, r)
		r.At = receipt.Time{Time: time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)} // a time that has no RFC 3339 form
		sameReport(t, "year 12026", r)
	}
}

// TestReportJSONMemory verifies that writing a report allocates no memory.
func TestReportJSONMemory(t *testing.T) {
	r := new(receipt.Report)
	fill(reflect.ValueOf(r).Elem(), "plain")
	r.Checks[0].Related, r.Checks[1].Related = receipt.Place{}, receipt.Place{} // set only if there is a fault
	var line []byte
	n := testing.AllocsPerRun(100, func() {
		var err error
		if line, err = receipt.AppendJSON(line[:0], r); err != nil {
			t.Fatal(err)
		}
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// fill sets every exported field, so that an unwritten field is detected.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Int, reflect.Int64:
		v.SetInt(3)
	case reflect.Uint8:
		v.SetUint(1)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), text)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(text))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), text)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[receipt.Time]() {
			v.Set(reflect.ValueOf(receipt.At(time.Date(2026, 4, 25, 19, 0, 0, 5e6, time.UTC))))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), text)
			}
		}
	}
}
