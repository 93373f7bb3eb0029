package print

import "github.com/receiptkit/receiptkit/receipt"

// Next returns the recommended action for a code, with commands and flags of this program if
// applicable.
func Next(info receipt.CodeInfo) string {
	// For all other codes, the recommended action is in the registry.
	switch info.Code {
	case "non_deterministic_cbor":
		return "Ask for the JSON, or for an archive written by receipt archive pack."
	case "hash_mismatch":
		return "Compare with another copy: receipt diff OTHER_COPY FILE. To see the hashed bytes: receipt canon --preimage FILE."
	case "material_not_found":
		return "Add the missing files, or verify without --artifacts."
	case "checkpoint_required":
		return "Ask the log for an inclusion proof: --proof FILE."
	case "unknown_key":
		return "Get that key from the issuer, not from the sender of the receipt, and run receipt keys import FILE --id KEY_ID --issuer ISSUER."
	case "issuer_unbound":
		return "Name the issuer: --issuer ID, or add \"issuers\" to the key in the key file."
	case "key_not_yet_valid", "key_expired", "issued_later":
		return info.Next + " To use another time: --at TIME."
	case "not_attested":
		return "Ask the issuer for an attestation: receipt attest RECEIPT --key KEY --commit SHA -o FILE."
	case "weak_key":
		return "Generate a new key: receipt keys generate."
	case "invalid_key_set":
		return "Correct the file as the message describes. To add keys without editing the file: receipt keys import."
	case "signatures_not_checked":
		return "Verify with the issuer's keys: --keys FILE."
	case "tail_not_checked":
		return "Specify the end of the stream: --expect-head with a hash or an earlier report, or a checkpoint."
	case "circular_root":
		return "Ask the issuer to omit merkle_root, or to seal the receipt in a batch: receipt batch seal."
	}
	return info.Next
}
