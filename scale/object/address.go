package object

import (
	"fmt"
	"net/url"
	"path"
	"strings"
)

// An Address specifies objects in one bucket.
type Address struct {
	Scheme string // s3, gs, azblob, or file
	Bucket string // name of the bucket or, for file, the directory, with slashes
	Key    string // key of a single object, prefix that ends in a slash or is empty, or pattern
	query  url.Values
}

// schemes returns the supported kinds of storage.
func schemes() []string { return []string{"s3", "gs", "azblob", "file"} }

// Parse parses an address. For the scheme file, buckets are directories. The directory is the part
// before the last slash, or before the first segment that contains a pattern.
func Parse(text string) (Address, error) {
	// A question mark in a pattern would start the query. Also, url.Parse unescapes the path, but
	// keys must not be changed.
	text, query, _ := strings.Cut(text, "?")
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || !known(scheme) {
		return Address{}, fmt.Errorf("%q is not an object address: expected %s://BUCKET/KEY", text, strings.Join(schemes(), "://, "))
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return Address{}, fmt.Errorf("%q: invalid parameters after the question mark: %w", text, err)
	}

	a := Address{Scheme: scheme, query: values}
	if scheme == "file" {
		a.Bucket, a.Key = folder(rest)
	} else {
		a.Bucket, a.Key, _ = strings.Cut(rest, "/")
	}
	if a.Bucket == "" {
		return Address{}, fmt.Errorf("%q does not name a bucket", text)
	}
	if strings.ContainsAny(a.Bucket, "@:") && scheme != "file" {
		return Address{}, fmt.Errorf("the address of a bucket of %s must not contain credentials or a port: set them in the environment and by ?endpoint=", scheme)
	}
	if _, err := path.Match(a.Key, ""); err != nil {
		return Address{}, fmt.Errorf("%q: invalid pattern: %w", text, err)
	}
	return a, nil
}

func known(scheme string) bool {
	for _, s := range schemes() {
		if s == scheme {
			return true
		}
	}
	return false
}

// folder splits the path of a file address into a directory and a key.
func folder(p string) (dir, key string) {
	end := len(p)
	if i := strings.IndexAny(p, meta); i >= 0 {
		end = i
	}
	cut := strings.LastIndexByte(p[:end], '/') + 1
	return p[:cut], p[cut:]
}

// meta contains the characters that turn a key into a pattern, as in [path.Match]. A question mark
// is not included, because it starts the query.
const meta = `*[\`

// One reports whether the address specifies exactly one object.
func (a Address) One() bool {
	return a.Key != "" && !strings.HasSuffix(a.Key, "/") && !strings.ContainsAny(a.Key, meta)
}

// prefix returns the common prefix of all keys that the address may match.
func (a Address) prefix() string {
	if i := strings.IndexAny(a.Key, meta); i >= 0 {
		return a.Key[:i]
	}
	return a.Key
}

// names reports whether an address that does not specify a single object matches the given key.
func (a Address) names(key string) bool {
	if !strings.ContainsAny(a.Key, meta) {
		return strings.HasPrefix(key, a.Key)
	}
	ok, _ := path.Match(a.Key, key) // Parse has already checked the pattern
	return ok
}

// name returns the name that reports use for an object.
func (a Address) name(key string) string {
	if a.Scheme == "file" {
		return a.Bucket + key
	}
	return a.Scheme + "://" + a.Bucket + "/" + key
}

// String returns the address without the storage parameters, which may contain secrets.
func (a Address) String() string { return a.name(a.Key) }

// Store returns the bucket of the address in the form that blob.OpenBucket accepts.
func (a Address) Store() string {
	u := url.URL{Scheme: a.Scheme, Host: a.Bucket, RawQuery: a.query.Encode()}
	if a.Scheme == "file" {
		u.Host, u.Path = "", a.Bucket
	}
	return u.String()
}
