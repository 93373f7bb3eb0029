package serve

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// Media types that are read and written.
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

// preferred returns the form in which a client would rather have a stored receipt than
// in its resource: the archive, the bare receipt, or mediaJSON for none. It names the
// media type, and no weight puts application/json before it (RFC 9110, 12.5.1).
func preferred(r *http.Request) string {
	named := map[string]float64{}
	for _, header := range r.Header.Values("Accept") {
		for item := range strings.SplitSeq(header, ",") {
			if media, weight, ok := accepted(item); ok {
				named[media] = max(named[media], weight)
			}
		}
	}

	// Of two with the same weight the archive comes first.
	best, most := mediaJSON, 0.0
	for _, media := range []string{mediaArchive, mediaReceipt} {
		if weight := named[media]; weight > most && weight >= rival(named, weight) {
			best, most = media, weight
		}
	}

	return best
}

// rival is the weight of application/json against a form that is named with a weight.
func rival(named map[string]float64, weight float64) float64 {
	if weight, ok := named[mediaJSON]; ok {
		return weight
	}
	if other := max(named["application/*"], named["*/*"]); other > weight {
		return other
	}
	return 0 // a range is not a name
}

// accepted reads one media range and its weight.
func accepted(item string) (media string, weight float64, ok bool) {
	media, params, err := mime.ParseMediaType(item)
	if err != nil {
		return "", 0, false
	}

	// RFC 9110 section 12.4.2: a weight that is not given is 1.
	text, given := params["q"]
	if !given {
		return media, 1, true
	}
	weight, err = strconv.ParseFloat(text, 64)
	return media, weight, err == nil && weight >= 0 && weight <= 1
}
