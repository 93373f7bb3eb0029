package serve_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

// TestNow verifies that a receipt is from the future if its time is later than the current second.
func TestNow(t *testing.T) {
	v := verifierOf(t, receipt.Policy{Now: noon().AddDate(9, 0, 0)}) // this is not the policy's current time
	good := fixture(t, "valid/minimal.json")
	doc, err := canon.Parse(good)
	if err != nil {
		t.Fatal(err)
	}
	issued, err := receipt.ParseTime(doc.Root().Member("issued_at").Text())
	if err != nil {
		t.Fatal(err)
	}
	for after, later := range map[time.Duration]bool{0: false, time.Second: false, -time.Millisecond: false, -999 * time.Millisecond: false, -time.Second: true, -time.Hour: true} {
		now := issued.Truncate(time.Second).Add(after)
		judge, err := v.For(serve.Question{}, now)
		if err != nil {
			t.Fatal(err)
		}
		again, err := v.For(serve.Question{}, now.Add(0))
		if err != nil || again != judge {
			t.Errorf("the same second has two verifiers")
		}
		rep := new(receipt.Report)
		judge.VerifyBytes(good, new(canon.Document), rep)
		if got := strings.Contains(fmt.Sprint(rep.Warnings), "issued_later"); got != later || rep.Verdict != receipt.Verified {
			t.Errorf("%v after: later %v, %v", after, got, rep.Verdict)
		}
	}
}

// TestQuestions verifies that concurrent requests with different policy options are processed
// independently.
func TestQuestions(t *testing.T) {
	v := verifierOf(t, receipt.Policy{})
	good := fixture(t, "valid/minimal.json")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for k := range 20 {
				issuer := fmt.Sprint("issuer-", i, k)
				judge, err := v.For(serve.Question{Issuer: issuer}, noon())
				if err != nil {
					t.Error(err)
					return
				}
				rep := new(receipt.Report)
				judge.VerifyBytes(good, new(canon.Document), rep)
				if f := rep.Finding(); f.Code != receipt.CodeIssuerMismatch || !strings.Contains(fmt.Sprint(f), issuer) {
					t.Errorf("%s: %+v", issuer, f)
				}
			}
		})
	}
	wg.Wait()
}

// A ban is a rule that refutes every receipt.
type ban string

func (b ban) Name() string { return string(b) }

func (ban) Judge(doc *canon.Document) []receipt.Check {
	return []receipt.Check{{Status: receipt.StatusFailed, Pointer: "/issuer", Detail: "the issuer is banned"}}
}

// TestRules verifies that a program's rules apply to every request, and that an invalid rule is
// rejected.
func TestRules(t *testing.T) {
	v, err := serve.NewVerifier(trusted(t), receipt.Policy{Rules: []receipt.Rule{ban("banned")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	good := fixture(t, "valid/minimal.json")
	for _, q := range []serve.Question{{}, {Integrity: true}} {
		judge, err := v.For(q, noon())
		if err != nil {
			t.Fatal(err)
		}
		rep := new(receipt.Report)
		judge.VerifyBytes(good, new(canon.Document), rep)
		if rep.Verdict != receipt.Refuted || rep.Finding().Code != "rule_banned" {
			t.Errorf("%+v: %v, %v", q, rep.Verdict, rep.Finding())
		}
	}
	for _, name := range []ban{"", "Banned"} {
		if _, err := serve.NewVerifier(trusted(t), receipt.Policy{Rules: []receipt.Rule{name}}, nil); err == nil {
			t.Errorf("a rule with the name %q is accepted", name)
		}
	}
}
