package archive_test

import (
	"bytes"
	"math"

	"github.com/fxamacker/cbor/v2"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// An oracle uses only the library to encode and decode entire trees of Go values. It is slow, but
// shares no code with this package.
type oracle struct {
	enc cbor.EncMode
	dec cbor.DecMode
}

func newOracle() oracle {
	enc, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		panic(err)
	}
	dec, err := cbor.DecOptions{
		DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden,
		MaxNestedLevels: receipt.MaxDepth, MaxArrayElements: 1 << 30, MaxMapPairs: 1 << 30,
	}.DecMode()
	if err != nil {
		panic(err)
	}
	return oracle{enc, dec}
}

// encode returns the encoded item for a value.
func (o oracle) encode(n canon.Node) []byte {
	item, err := o.enc.Marshal(tree(n))
	if err != nil {
		panic(err)
	}
	return item
}

// tree returns the value with exact types for numbers.
func tree(n canon.Node) any {
	switch n.Kind() {
	case canon.KindBool:
		return n.Bool()
	case canon.KindString:
		return n.String()
	case canon.KindNumber:
		if f := n.Float(); f == math.Trunc(f) {
			return int64(f)
		}
		return n.Float()
	case canon.KindArray:
		a := []any{}
		for _, e := range n.Elements() {
			a = append(a, tree(e))
		}
		return a
	case canon.KindObject:
		m := map[string]any{}
		for name, value := range n.Members() {
			m[name.String()] = tree(value)
		}
		return m
	}
	return nil
}

// accepts reports whether an archive may contain the item.
func (o oracle) accepts(item []byte) bool {
	var v any
	if o.dec.Unmarshal(item, &v) != nil || !archivable(v) {
		return false
	}
	again, err := o.enc.Marshal(v)
	return err == nil && bytes.Equal(again, item)
}

const maxSafe = 1<<53 - 1

func archivable(v any) bool {
	switch v := v.(type) {
	case nil, bool, string:
		return true
	case uint64:
		return v <= maxSafe
	case int64:
		return v >= -maxSafe
	case float64:
		return v != math.Trunc(v) && !math.IsNaN(v) // an infinity equals its integral part
	case []any:
		for _, e := range v {
			if !archivable(e) {
				return false
			}
		}
		return true
	case map[any]any:
		for key, e := range v {
			if _, text := key.(string); !text || !archivable(e) {
				return false
			}
		}
		return true
	}
	return false
}
