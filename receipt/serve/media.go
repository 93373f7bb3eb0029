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

// contentType returns the media type of a body, one of those that a route reads. A
// parameter that would mean other bytes, such as charset=utf-16, is refused.
func contentType(r *http.Request, known ...string) (string, error) {
	const name = "Content-Type"
	list := r.Header.Values(name)
	if len(list) != 1 {
		return "", unsupportedMedia(name, "expected one Content-Type of %q, found %d", known, len(list))
	}

	media, params, err := mime.ParseMediaType(list[0])
	if err != nil {
		return "", unsupportedMedia(name, "the Content-Type is malformed: expected one of %q", known)
	}

	// RFC 8259 section 8.1: JSON that is exchanged is UTF-8.
	for param, value := range params {
		if param == "charset" && !strings.EqualFold(value, "utf-8") {
			return "", unsupportedMedia(name, "expected charset=utf-8, found %.40q", value)
		}
	}

	for _, k := range known {
		if media == k {
			return media, nil
		}
	}

	return "", unsupportedMedia(name, "expected a Content-Type of %q, found %.40q", known, media)
}

// contentEncoding returns how a body is compressed, one of those that a route
// reads, or "".
func contentEncoding(r *http.Request, known ...string) (string, error) {
	const name = "Content-Encoding"
	list := r.Header.Values(name)
	if len(list) == 0 || len(list) == 1 && strings.EqualFold(list[0], "identity") {
		return "", nil
	}
	if len(list) == 1 {
		for _, k := range known {
			if strings.EqualFold(list[0], k) {
				return k, nil
			}
		}
	}

	// RFC 9110 section 15.5.16: a 415 says in Accept-Encoding what would do.
	known = append(known, "identity")
	f := unsupportedMedia(name, "expected no Content-Encoding, or one of %q, found %.40q", known, strings.Join(list, ", "))
	return "", f.with("Accept-Encoding", strings.Join(known, ", "))
}

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
