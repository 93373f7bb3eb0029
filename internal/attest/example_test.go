package attest_test

import (
	"context"
	"fmt"

	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/internal/attest"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// A harness attests its receipt for the commit that resulted from the task.
func ExampleSign() {
	data, _ := fixtures.Read("valid/task.json")
	secret, _ := fixtures.Read("keys/key_2026_04.private.json")
	sealed, err := receipt.ParseSealed(data)
	if err != nil {
		fmt.Println(err)
		return
	}
	key, err := keys.ParsePrivate(secret)
	if err != nil {
		fmt.Println(err)
		return
	}

	statement, err := attest.NewStatement(sealed, "8f94139338f9404f26296befa88755fc2598c289")
	if err != nil {
		fmt.Println(err)
		return
	}
	envelope, err := attest.Sign(context.Background(), statement, keys.NewSigner(key, nil))
	if err != nil {
		fmt.Println(err)
		return
	}

	for _, s := range statement.Subjects {
		fmt.Printf("%s %.20s\n", s.Name, s)
	}
	fmt.Printf("%.60s\n", envelope.Bytes())
	// Output:
	// artifact_patch_1 sha256:a4895eb44afc3
	// src/beds.rs sha256:f39592393ef08
	// git commit gitCommit:8f94139338
	// {"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json"
}

// The recipient of the attestation checks whether it refers to a given commit.
func ExampleOpener_Judge() {
	data, _ := fixtures.Read("valid/task.json")
	secret, _ := fixtures.Read("keys/key_2026_04.private.json")
	trusted, _ := fixtures.Read("keys/trust.json")
	sealed, _ := receipt.ParseSealed(data)
	key, _ := keys.ParsePrivate(secret)
	statement, _ := attest.NewStatement(sealed, "8f94139338f9404f26296befa88755fc2598c289")
	envelope, _ := attest.Sign(context.Background(), statement, keys.NewSigner(key, nil))

	set, err := keys.ParseSet(trusted)
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := receipt.NewVerifier(set, receipt.Policy{})
	if err != nil {
		fmt.Println(err)
		return
	}

	rep := new(receipt.Report)
	for _, commit := range []string{"8f94139338f9404f26296befa88755fc2598c289", "0123456789abcdef0123456789abcdef01234567"} {
		asked := attest.Subject{Algorithm: attest.GitCommit, Digest: commit}
		attest.NewOpener(set, receipt.Policy{}, asked).Judge(v, envelope.Bytes(), rep)
		fmt.Printf("%.7s: %s\n", commit, rep.Verdict)
	}
	// Output:
	// 8f94139: verified
	// 0123456: undecided
}
