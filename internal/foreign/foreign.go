// Package foreign reads third-party receipts. Each format has a package below. That package checks
// the rules that need no key, and returns the signatures for [receipt.Verifier.Foreign] to verify.
// One set of keys, outcomes, and codes therefore applies to all formats.
//
//	f := foreign.Read(kind.Of(text, true).Kind, text, doc)
//	if f != nil {
//		verifier.Foreign(text, f, report)
//	}
//
// The packages for the formats share little code except internal/form (strict decoding and member
// lists), because each format has its own signed bytes, links, and hashes.
package foreign

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/foreign/a2a"
	"github.com/receiptkit/receiptkit/internal/foreign/acta"
	"github.com/receiptkit/receiptkit/internal/foreign/ael"
	"github.com/receiptkit/receiptkit/internal/foreign/audit"
	"github.com/receiptkit/receiptkit/internal/foreign/harn"
	"github.com/receiptkit/receiptkit/internal/foreign/obsigna"
	"github.com/receiptkit/receiptkit/internal/foreign/pipelock"
	"github.com/receiptkit/receiptkit/internal/foreign/scitt"
	"github.com/receiptkit/receiptkit/internal/foreign/verdict"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/receipt"
)

// Read reads a document in a format that [kind.Of] recognized; doc is empty if the text is not
// JSON. Read returns nil if there is no reader for the format.
func Read(format kind.Kind, text []byte, doc *canon.Document) *receipt.Foreign {
	switch format {
	case "cose-sign1":
		return scitt.Read(text)
	case "ael-artifact":
		if !doc.Root().Member("ael_directory").IsZero() {
			return ael.ReadArtifact(doc)
		}
	case kind.AELLine:
		return ael.Read(text)
	case "harn-receipt":
		return harn.ReadPersona(doc)
	case "harn-provenance":
		return harn.ReadProvenance(doc)
	case "opentrustgraph":
		return harn.ReadTrustGraph(doc)
	case "acta-envelope", "acta-flat":
		return acta.Read(doc)
	case "pipelock-v1":
		return pipelock.ReadV1(doc)
	case "pipelock-v2":
		return pipelock.ReadV2(doc)
	case "a2a-card":
		return a2a.Read(doc)
	case "gilda-audit-record":
		return audit.Read(doc)
	case "slsa-vsa":
		return verdict.ReadVSA(doc)
	case "in-toto-svr":
		return verdict.ReadSVR(doc)
	case "obsigna":
		return obsigna.Read(doc)
	}
	return nil
}
