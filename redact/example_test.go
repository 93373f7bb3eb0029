package redact_test

import (
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact"
)

func Example() {
	rules := redact.Default()
	rules.Pointers = append(rules.Pointers, "/metadata/**/pin")
	policy, err := rules.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	draft, err := canon.Parse([]byte(`{"metadata": {"door": {"pin": 1234}, "log": "Authorization: Bearer 9f86d081884c7d659a2feaa0c55ad015"}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	salts := strings.NewReader("an example's salt, not a secret one") // crypto/rand.Reader
	result, err := policy.Redact(draft, salts)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Summary())
	for _, e := range result.Entries {
		fmt.Println(e.Field, "by", e.Reason)
	}
	shown, err := result.Disclosures.Select("/metadata/door/pin")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(shown.Fields, shown.Check(result.Draft)) // a real program must seal the draft first
	shown.Fields[0].Value = []byte("4321")
	fmt.Println(shown.Check(result.Draft) == nil)
	// Output:
	// withheld 2 values by rule: pattern bearer_token 1, pointer 1
	// /metadata/door/pin by pointer
	// /metadata/log by pattern bearer_token
	// [/metadata/door/pin] <nil>
	// false
}

func ExampleDisclosure_Commitment() {
	fmt.Println(redact.Disclosure{Field: "/metadata/pin", Salt: "00112233445566778899aabbccddeeff", Value: []byte(`"1234"`)}.Commitment())
	// Output: sha256:88e755bd5a563db3f3a9c6eeb2f2787df6824ea0d05921709a614c04c776916d
}
