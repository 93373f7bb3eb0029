package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A keyFile is a file of trusted keys, which is a JWK Set of at most keys.MaxSetBytes bytes.
type keyFile struct {
	Name string
	Data []byte
}

// A keyReport describes the trusted keys of a verification.
type keyReport struct {
	Path   string       `json:"path"`   // the names of the files
	SHA256 canon.Digest `json:"sha256"` // of the file; for several files, of one trust file that contains their keys
	Count  int          `json:"count"`
	Keys   []keyInfo    `json:"keys"`
}

// A keyInfo describes one trusted key.
type keyInfo struct {
	ID          string       `json:"id"`
	Algorithm   string       `json:"algorithm"`
	Fingerprint string       `json:"fingerprint"` // RFC 7638, base64url
	File        string       `json:"file"`
	Issuers     []string     `json:"issuers"` // if empty, the key speaks for the issuer that the caller names
	Roles       []string     `json:"roles"`
	NotBefore   receipt.Time `json:"not_before,omitzero"`
	NotAfter    receipt.Time `json:"not_after,omitzero"`
	Revoked     *revocation  `json:"revoked,omitzero"`
}

type revocation struct {
	At     receipt.Time `json:"at"`
	Reason string       `json:"reason"`
}

// trust merges the key files. Identical entries are counted once. Different entries with the same
// ID are an error.
func trust(files []keyFile) (*keys.Set, *keyReport, error) {
	joined := new(keys.File)
	var names []string
	rep := &keyReport{Keys: []keyInfo{}}
	seen := map[string][]byte{}

	for _, f := range files {
		set, err := keys.ParseSet(f.Data)
		if err != nil {
			return nil, nil, fmt.Errorf("%q: %w", f.Name, err)
		}

		names = append(names, f.Name)
		for _, k := range set.Keys() {
			text, err := k.MarshalJSON()
			if err != nil {
				return nil, nil, err
			}
			if bytes.Equal(seen[k.ID], text) {
				continue
			}
			if err := joined.Add(k); err != nil {
				return nil, nil, fmt.Errorf("%q with another key file: %w", f.Name, err)
			}
			seen[k.ID] = text
			rep.Keys = append(rep.Keys, describe(k, f.Name))
		}
	}

	// All files form one key set, as if they were one file.
	set, err := keys.NewSet(joined.Keys()...)
	if err != nil {
		return nil, nil, err
	}

	rep.Path, rep.Count = strings.Join(names, ", "), set.Len()
	rep.SHA256, err = digest(files, joined)
	return set, rep, err
}

func digest(files []keyFile, joined *keys.File) (canon.Digest, error) {
	if len(files) == 1 {
		return canon.Sum(files[0].Data), nil
	}
	text, err := joined.Marshal()
	return canon.Sum(text), err
}

func describe(k *keys.PublicKey, file string) keyInfo {
	info := keyInfo{ID: k.ID, Algorithm: k.Algorithm, Fingerprint: k.Fingerprint(), File: file, Issuers: []string{}, Roles: []string{}}
	info.Issuers = append(info.Issuers, k.Issuers...)
	for _, r := range k.Roles {
		info.Roles = append(info.Roles, string(r))
	}

	// A key without roles has the role "issuer".
	if len(info.Roles) == 0 {
		info.Roles = append(info.Roles, string(receipt.RoleIssuer))
	}

	if !k.NotBefore.IsZero() {
		info.NotBefore = receipt.At(k.NotBefore)
	}
	if !k.NotAfter.IsZero() {
		info.NotAfter = receipt.At(k.NotAfter)
	}
	if k.Revoked != nil {
		info.Revoked = &revocation{receipt.At(k.Revoked.At), k.Revoked.Reason}
	}

	return info
}

// summaryKeys returns the part of the key report that a summary contains.
func (k *keyReport) summaryKeys() *stream.Keys {
	if k == nil {
		return nil
	}
	return &stream.Keys{Path: k.Path, SHA256: k.SHA256, Count: k.Count}
}
