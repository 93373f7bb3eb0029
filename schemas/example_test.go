package schemas_test

import (
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/schemas"
)

func ExampleSchema_Check() {
	keys, err := schemas.Compile("keys")
	if err != nil {
		fmt.Println(err)
		return
	}
	doc, err := canon.Parse([]byte(`{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKx", "roles": ["admin"]}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	result := keys.Check(doc.Root())
	for _, p := range result.Problems {
		fmt.Printf("%s: %s\n", p.Pointer, p.Detail)
	}
	fmt.Println(result.Total, "problems")
	// Output:
	// /keys/0: missing member "kid"
	// /keys/0/roles/0: expected one of "issuer", "witness", "checkpoint", found a string of 5 characters
	// 2 problems
}
