package archive_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

func Example() {
	codec := archive.NewCodec()
	doc, err := canon.Parse([]byte(`{"b": 2.0, "a": 0.1842, "aa": [null, true, -1]}`))
	if err != nil {
		panic(err)
	}
	item, err := codec.Append(nil, doc)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%x\n", item)
	text, err := codec.ToJSON(item)
	fmt.Println(string(text), err)
	// Output:
	// a36161fb3fc793dd97f62b6b61620262616183f6f520
	// {"a":0.1842,"aa":[null,true,-1],"b":2} <nil>
}

// Even if one item in a sequence is not an archive, the other items can be read.
func ExampleReader() {
	codec := archive.NewCodec()
	r := archive.NewReader(bytes.NewReader([]byte("\xa1\x61a\x01" + "\xf9\x40\x00" + "\xa1\x61a\x02")))
	for {
		item, err := r.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			fmt.Println("the sequence ends:", err)
			break
		}
		text, err := codec.ToJSON(item)
		var refused *archive.ItemError
		if errors.As(err, &refused) {
			fmt.Printf("item at %d: %s, %v\n", r.Offset(), refused.Code, refused)
			continue
		}
		fmt.Printf("item at %d: %s\n", r.Offset(), text)
	}
	// Output:
	// item at 0: {"a":1}
	// item at 4: non_deterministic_cbor, offset 0: expected an integer, found a float
	// item at 7: {"a":2}
}
