package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
)

// listed returns the hashes of the receipts that a report lists, as json or ndjson.
func listed(data []byte) (list []canon.Digest) {
	type report struct {
		Hash string `json:"receipt_hash"`
	}
	add := func(r report) {
		if d, err := canon.ParseDigest([]byte(r.Hash)); err == nil {
			list = append(list, d)
		}
	}
	for d := json.NewDecoder(bytes.NewReader(data)); ; {
		var line struct {
			report
			Reports []report `json:"reports"`
		}
		if d.Decode(&line) != nil {
			return list
		}
		add(line.report)
		for _, r := range line.Reports {
			add(r)
		}
	}
}

// overlapOf says that two parts list the same receipt; "" when none do.
func overlapOf(parts []part) string {
	holder := map[canon.Digest]int{}
	for i, p := range parts {
		for _, d := range p.receipts {
			if first, there := holder[d]; there && first != i {
				return fmt.Sprintf("%q and %q both hold the receipt %s; what is in both was counted twice, and whether receipts are missing between parts cannot be told: verify the parts together, or cut them without overlap",
					sourceName(parts[first].path), sourceName(p.path), d)
			}
			holder[d] = i
		}
	}
	return ""
}
