package canon_test

import (
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
)

func ExampleTransform() {
	out, err := canon.Transform([]byte(`{
  "usd": 2.50, "tokens": 1e3,
  "\u0061": "\u20ac\/😀"
}`))
	fmt.Println(string(out), err)
	// Output: {"a":"€/😀","tokens":1000,"usd":2.5} <nil>
}

// An error states the location, the reason, and the probable cause.
func ExampleTransform_refused() {
	for _, src := range []string{
		"{\"verdict\": \"deny\",\n \"verdict\": \"allow\"}",
		`[1, "\ud800"]`,
		`{“a”: 1}`,
	} {
		_, err := canon.Transform([]byte(src))
		var e *canon.SyntaxError
		if errors.As(err, &e) {
			fmt.Println(e.Code, "-", e)
			if e.Hint != "" {
				fmt.Println("hint:", e.Hint)
			}
		}
	}
	// Output:
	// duplicate_name - line 2, column 2 (offset 21, at "/verdict"): duplicate member name "verdict"
	// lone_surrogate - line 1, column 6 (offset 5, at "/1"): expected a surrogate pair, found \ud800 alone
	// syntax - line 1, column 2 (offset 1): expected a member name in double quotes, found '“'
	// hint: the file has curly quotation marks; it was probably re-saved or pasted, ask for it as an attachment
}

// A receipt's preimage is the receipt without its digest and signatures. The preimage is created
// without copying and editing the document.
func ExampleDocument_AppendCanonical() {
	d, err := canon.Parse([]byte(`{"id": 7, "chain": {"receipt_hash": "sha256:…", "previous_receipt_hash": null}, "signatures": []}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	root := d.Root()
	without := []canon.Node{root.Member("chain").Member("receipt_hash"), root.Member("signatures")}
	fmt.Printf("%s\n", d.AppendCanonical(nil, without...))
	fmt.Println(d.Digest(without...))
	// Output:
	// {"chain":{"previous_receipt_hash":null},"id":7}
	// sha256:ef95e1d0f20872353061f8277f9addc9165a298485022e56425ccbdb8a209c40
}

func ExampleDocument_Find() {
	d, err := canon.Parse([]byte(`{"events": [{"id": "a"}, {"a/b": [true]}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := canon.ParsePointer("/events/1/a~1b/0")
	if err != nil {
		fmt.Println(err)
		return
	}
	n, ok := d.Find(p)
	fmt.Println(n.Bool(), ok, n.Offset())
	// Output: true true 34
}

// Code can follow a path to an absent value without checking each step.
func ExampleNode_Member() {
	d, err := canon.Parse([]byte(`{"cost": {"usd": 0.25}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Root().Member("cost").Member("usd").Float())
	fmt.Println(d.Root().Member("price").Member("usd").IsZero())
	// Output:
	// 0.25
	// true
}

// A digest has only one valid spelling.
func ExampleParseDigest() {
	d, err := canon.ParseDigest("sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
	fmt.Println(d == canon.Sum(nil), err)
	_, err = canon.ParseDigest("SHA256:E3B0C442")
	fmt.Println(err)
	// Output:
	// true <nil>
	// expected sha256: and 64 lowercase hexadecimal digits, found "SHA256:E3B0C442"
}
