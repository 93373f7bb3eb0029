package serve

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// These are the media types of request and response bodies.
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

// preferred returns the media type in which the client prefers to receive a stored receipt: the
// archive, the bare receipt, or, by default, the protocol's resource (mediaJSON). To prefer one of
// the first two, the client must list its media type explicitly, and must not give application/json
// a higher weight (RFC 9110 section 12.5.1).
func preferred(r *http.Request) string {
	named := map[string]float64{}
	for _, header := range r.Header.Values("Accept") {
		for item := range strings.SplitSeq(header, ",") {
			if media, weight, ok := accepted(item); ok {
				named[media] = max(named[media], weight)
			}
		}
	}

	// If both forms have the same weight, the archive is chosen.
	best, most := mediaJSON, 0.0
	for _, media := range []string{mediaArchive, mediaReceipt} {
		if weight := named[media]; weight > most && weight >= rival(named, weight) {
			best, most = media, weight
		}
	}

	return best
}

// rival returns the weight of application/json. Another form is preferred only if its weight is at
// least as high.
func rival(named map[string]float64, weight float64) float64 {
	if weight, ok := named[mediaJSON]; ok {
		return weight
	}
	if other := max(named["application/*"], named["*/*"]); other > weight {
		return other
	}
	return 0 // a media range with a wildcard does not list a type explicitly
}

// accepted parses a media range and its weight.
func accepted(item string) (media string, weight float64, ok bool) {
	media, params, err := mime.ParseMediaType(item)
	if err != nil {
		return "", 0, false
	}

	// The default weight is 1 (RFC 9110 section 12.4.2).
	text, given := params["q"]
	if !given {
		return media, 1, true
	}
	weight, err = strconv.ParseFloat(text, 64)
	return media, weight, err == nil && weight >= 0 && weight <= 1
}
