package receipt

// A kinship holds the trusted keys of issuers by their material. Material that speaks for an
// issuer is no witness of that issuer's receipts, whatever its other IDs.
type kinship map[[32]byte][]*Key

// kinOf returns the issuers' keys of a trust that lists its keys.
func kinOf(trust Trust) kinship {
	listed, ok := trust.(LogTrust)
	if !ok {
		return nil
	}

	kin := kinship{}
	for _, k := range listed.NoteKeys() {
		if k.Has(RoleIssuer) {
			kin[k.Thumbprint] = append(kin[k.Thumbprint], k.Key)
		}
	}
	return kin
}
