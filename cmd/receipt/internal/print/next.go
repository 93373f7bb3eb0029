package print

import (
	"cmp"

	"github.com/receiptkit/receiptkit/receipt"
)

// Next returns the recommended action for a code, with commands and flags of this program if
// applicable.
func Next(info receipt.CodeInfo) string {
	switch info.Code {
	case "key_not_yet_valid", "key_expired", "issued_later":
		return info.Next + " To use another time: --at TIME."
	}

	// For all other codes, the recommended action is in the registry.
	return cmp.Or(map[receipt.Code]string{
		"non_deterministic_cbor": "Ask for the JSON, or for an archive written by receipt archive pack.",
		"hash_mismatch":          "Compare with another copy: receipt diff OTHER_COPY FILE. To see the hashed bytes: receipt canon --preimage FILE.",
		"material_not_found":     "Add the missing files, or verify without --artifacts.",
		"checkpoint_required":    "Ask the log for an inclusion proof: --proof FILE.",
		"unknown_key":            "Get that key from the issuer, not from the sender of the receipt, and run receipt keys import FILE --id KEY_ID --issuer ISSUER.",
		"issuer_unbound":         "Name the issuer: --issuer ID, or add \"issuers\" to the key in the key file.",
		"not_attested":           "Ask the issuer for an attestation: receipt attest RECEIPT --key KEY --commit SHA -o FILE.",
		"weak_key":               "Generate a new key: receipt keys generate.",
		"invalid_key_set":        "Correct the file as the message describes. To add keys without editing the file: receipt keys import.",
		"signatures_not_checked": "Verify with the issuer's keys: --keys FILE.",
		"tail_not_checked":       "Specify the end of the stream: --expect-head with a hash or an earlier report, or a checkpoint.",
		"circular_root":          "Ask the issuer to omit merkle_root, or to seal the receipt in a batch: receipt batch seal.",
	}[info.Code], info.Next)
}
