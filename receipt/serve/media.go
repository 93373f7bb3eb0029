package serve

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// Media types of request and response bodies.
const (
	mediaJSON     = "application/json"
	mediaReceipt  = "application/vnd.harn.receipt+json"
	mediaCBOR     = "application/cbor"
	mediaArchive  = "application/vnd.harn.receipt+cbor"
	mediaNDJSON   = "application/x-ndjson"
	mediaJSONL    = "application/jsonl"
	mediaSequence = "application/cbor-seq"
	mediaKeys     = "application/jwk-set+json"
	mediaSchema   = "application/schema+json"
	mediaText     = "text/plain; charset=utf-8"
)

// preferred returns the form of a stored receipt that a client prefers to the resource: the
// archive, the bare receipt, or mediaJSON if the client prefers neither. The client must name the
// media type, and must not give application/json a higher weight (RFC 9110, 12.5.1).
func preferred(r *http.Request) string {
	named := map[string]float64{}
	for _, header := range r.Header.Values("Accept") {
		for item := range strings.SplitSeq(header, ",") {
			if media, weight, ok := accepted(item); ok {
				named[media] = max(named[media], weight)
			}
		}
	}

	// If both have the same weight, the archive is chosen.
	best, most := mediaJSON, 0.0
	for _, media := range []string{mediaArchive, mediaReceipt} {
		if weight := named[media]; weight > most && weight >= rival(named, weight) {
			best, most = media, weight
		}
	}

	return best
}

// rival returns the weight of application/json, against which a named form competes.
func rival(named map[string]float64, weight float64) float64 {
	if weight, ok := named[mediaJSON]; ok {
		return weight
	}
	if other := max(named["application/*"], named["*/*"]); other > weight {
		return other
	}
	return 0 // a range does not name a type
}

// accepted parses one media range and its weight.
func accepted(item string) (media string, weight float64, ok bool) {
	media, params, err := mime.ParseMediaType(item)
	if err != nil {
		return "", 0, false
	}

	// RFC 9110 section 12.4.2: the default weight is 1.
	text, given := params["q"]
	if !given {
		return media, 1, true
	}
	weight, err = strconv.ParseFloat(text, 64)
	return media, weight, err == nil && weight >= 0 && weight <= 1
}
