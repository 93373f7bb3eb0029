package receipt_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// exampleKey returns the examples' key pair: a signer for the issuer and a Trust for verifiers.
func exampleKey() (receipt.Signer, receipt.Trust) {
	seed := bytes.NewReader(make([]byte, 32)) // a fixed seed for the example; use crypto/rand.Reader
	private, err := keys.Generate(seed, keys.Ed25519, "key_2026_04")
	if err != nil {
		panic(err)
	}
	public := private.Public()
	public.Issuers = []string{"harness_example"}
	trust, err := keys.NewSet(public)
	if err != nil {
		panic(err)
	}
	return keys.NewSigner(private, nil), trust
}

func exampleDraft() *receipt.Draft {
	at := receipt.At(time.Date(2026, 4, 25, 19, 17, 33, 0, time.UTC))
	return &receipt.Draft{
		ReceiptID:   "receipt_1",
		Subject:     receipt.ResourceRef{Object: "task", ID: "task_1"},
		Issuer:      receipt.Issuer{ID: "harness_example", Kind: "harness"},
		IssuedAt:    at,
		Identifiers: receipt.Identifiers{WorkspaceRef: "w", SessionID: "s", TaskID: "task_1"},
		Lifecycle:   receipt.Lifecycle{StartedAt: at, CompletedAt: at, FinalState: receipt.StateSucceeded},
		Trust:       receipt.TrustTiers{StartTier: "suggest", EndTier: "suggest"},
		ReplayInput: receipt.ReplayInput{Determinism: "best_effort"},
		ModelRoute:  receipt.ModelRoute{ChosenModel: receipt.Model{Provider: "none", Model: "none"}, RoutePolicyReason: "none needed"},
		Cost:        receipt.Cost{Currency: "USD"},
	}
}

// exampleReceipt returns a receipt with one signature by each signer.
func exampleReceipt(signers ...receipt.Signer) []byte {
	sealed, err := receipt.Seal(exampleDraft(), chain.Head{})
	if err != nil {
		panic(err)
	}
	for _, s := range signers {
		if sealed, err = sealed.Sign(context.Background(), s); err != nil {
			panic(err)
		}
	}
	return sealed.JSON()
}

// The issuer seals and signs a draft, and a recipient verifies the resulting receipt.
func Example() {
	signer, trust := exampleKey()

	sealed, err := receipt.Seal(exampleDraft(), chain.Head{}) // the first receipt in its stream
	if err != nil {
		fmt.Println(err)
		return
	}
	if sealed, err = sealed.Sign(context.Background(), signer); err != nil {
		fmt.Println(err)
		return
	}

	verifier, err := receipt.NewVerifier(trust, receipt.Policy{})
	if err != nil {
		fmt.Println(err)
		return
	}
	doc, report := new(canon.Document), new(receipt.Report) // reused for each receipt
	verifier.VerifyBytes(sealed.JSON(), doc, report)

	fmt.Println(report.Verdict, report.ReceiptID, report.ReceiptHash == sealed.Hash())
	for _, c := range report.Checks {
		fmt.Println(c.Step, c.Status)
	}
	// Output:
	// verified receipt_1 true
	// parse passed
	// schema passed
	// hash passed
	// link not_checked
	// batch not_applicable
	// signatures passed
	// redactions not_applicable
}

// A receipt is returned only with a nil error. Errors distinguish invalid receipts from receipts
// that could not be decided.
func ExampleVerifier_Open() {
	signer, trust := exampleKey()
	verifier, err := receipt.NewVerifier(trust, receipt.Policy{})
	if err != nil {
		fmt.Println(err)
		return
	}
	signed := exampleReceipt(signer)
	for _, data := range [][]byte{
		signed,
		bytes.Replace(signed, []byte(`"final_state":"SUCCEEDED"`), []byte(`"final_state":"CANCELED"`), 1),
		exampleReceipt(), // no signatures
	} {
		r, err := verifier.Open(data)
		var refuted *receipt.RefutedError
		var undecided *receipt.UndecidedError
		switch {
		case errors.As(err, &refuted):
			fmt.Println("do not believe it:", refuted.Report.Finding().Code)
		case errors.As(err, &undecided):
			fmt.Println("ask for more:", undecided.Report.Finding().Code)
		case err != nil:
			fmt.Println(err)
		default:
			fmt.Println(r.Issuer.ID, "says", r.Lifecycle.FinalState)
		}
	}
	// Output:
	// harness_example says SUCCEEDED
	// do not believe it: hash_mismatch
	// ask for more: unsigned
}

// The finding is the most important check to show to a person.
func ExampleReport_Finding() {
	signer, trust := exampleKey()
	verifier, err := receipt.NewVerifier(trust, receipt.Policy{})
	if err != nil {
		fmt.Println(err)
		return
	}
	data := bytes.Replace(exampleReceipt(signer), []byte(`"currency":"USD"`), []byte(`"currency":"usd"`), 1)
	doc, report := new(canon.Document), new(receipt.Report)
	verifier.VerifyBytes(data, doc, report)

	f := report.Finding()
	fmt.Printf("%v: %s at %q: %s\n", report.Verdict, f.Code, f.Pointer, f.Detail)
	if info, ok := receipt.Lookup(f.Code); ok {
		fmt.Println(info.Next)
	}
	// Output:
	// refuted: schema_invalid at "/cost/currency": expected a string that matches ^[A-Z]{3}$, found a string of 3 characters
	// Ask the issuer. Editing the file would break its hash.
}
