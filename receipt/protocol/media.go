package protocol

import (
	"mime"
	"net/http"
	"strings"
)

// MediaJSON is the media type of bodies and answers.
const MediaJSON = "application/json"

// ContentType returns the media type of a body, one of those that a route reads. A
// parameter that would mean other bytes, such as charset=utf-16, is refused.
func ContentType(r *http.Request, known ...string) (string, error) {
	const name = "Content-Type"
	list := r.Header.Values(name)
	if len(list) != 1 {
		return "", unsupportedMedia(name, "expected one Content-Type, %s, found %d of them", oneOf(known), len(list))
	}

	media, params, err := mime.ParseMediaType(list[0])
	if err != nil {
		return "", unsupportedMedia(name, "the Content-Type is malformed: expected %s", oneOf(known))
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

	return "", unsupportedMedia(name, "expected the Content-Type %s, found %.40q", oneOf(known), media)
}

// ContentEncoding returns how a body is compressed, one of those that a route
// reads, or "".
func ContentEncoding(r *http.Request, known ...string) (string, error) {
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
	f := unsupportedMedia(name, "expected no Content-Encoding, or %s, found %.40q", oneOf(known), strings.Join(list, ", "))
	return "", f.With("Accept-Encoding", strings.Join(known, ", "))
}

// oneOf is a choice of names.
func oneOf(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// unsupportedMedia is a 415, which the protocol has no code for.
func unsupportedMedia(param, format string, args ...any) *Error {
	e := Invalid(param, format, args...)
	e.Status = http.StatusUnsupportedMediaType
	return e
}
