package secret_test

import (
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/redact/secret"
)

func Example() {
	scanner, err := secret.Compile(secret.Default()) // this takes about 20 ms, so do it only once
	if err != nil {
		fmt.Println(err)
		return
	}
	text := []byte("DB_PASSWORD=Tr0ub4dor-3, as in the commit 8f3a91c7e20b5d648f3a91c7e20b5d648f3a91c7")
	for _, found := range scanner.Scan(text, nil) {
		fmt.Printf("%s: bytes %d to %d\n", scanner.Name(found.Detector), found.Start, found.End)
	}
	// Output: password: bytes 12 to 23
}

// A custom detector can find an organization's own secrets.
func ExampleDetector() {
	badge := secret.Detector{Name: "badge", Pattern: `\b(BADGE-[0-9]{6})\b`, Group: 1, Allow: []string{`^BADGE-000`}}
	scanner, err := secret.Compile([]secret.Detector{badge})
	if err != nil {
		fmt.Println(err)
		return
	}
	text := "BADGE-000001 is an example, BADGE-481516 is not"
	for _, found := range scanner.Scan([]byte(text), nil) {
		fmt.Println(strings.Repeat("*", found.End-found.Start), "by", scanner.Name(found.Detector))
	}
	// Output: ************ by badge
}
