package object

import (
	"fmt"
	"net/url"
	"path"
	"strings"
)

// An Address names objects of one bucket.
type Address struct {
	Scheme string // s3, gs, azblob or file
	Bucket string // the name of the bucket; of file the folder, with slashes
	Key    string // of one object, a prefix that ends in a slash or is empty, or a pattern
	query  url.Values
}

// schemes are the storages that are built in.
func schemes() []string { return []string{"s3", "gs", "azblob", "file"} }

// Parse reads an address. Of file, whose buckets are folders, the folder is what comes
// before the last slash, or before the first segment with a pattern.
func Parse(text string) (Address, error) {
	// A pattern's question mark would begin the query, and url.Parse unescapes the path;
	// keys are taken as they are written.
	text, query, _ := strings.Cut(text, "?")
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || !known(scheme) {
		return Address{}, fmt.Errorf("%q is no address of objects: expected %s://BUCKET/KEY", text, strings.Join(schemes(), "://, "))
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return Address{}, fmt.Errorf("%q: what follows the question mark: %w", text, err)
	}

	a := Address{Scheme: scheme, query: values}
	if scheme == "file" {
		a.Bucket, a.Key = folder(rest)
	} else {
		a.Bucket, a.Key, _ = strings.Cut(rest, "/")
	}
	if a.Bucket == "" {
		return Address{}, fmt.Errorf("%q names no bucket", text)
	}
	if strings.ContainsAny(a.Bucket, "@:") && scheme != "file" {
		return Address{}, fmt.Errorf("the address of a bucket of %s holds no credentials and no port: they come from the environment and from ?endpoint=", scheme)
	}
	if _, err := path.Match(a.Key, ""); err != nil {
		return Address{}, fmt.Errorf("%q: the pattern is malformed: %w", text, err)
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

// folder cuts a path of file into folder and key.
func folder(p string) (dir, key string) {
	end := len(p)
	if i := strings.IndexAny(p, meta); i >= 0 {
		end = i
	}
	cut := strings.LastIndexByte(p[:end], '/') + 1
	return p[:cut], p[cut:]
}

// meta are the characters that make a key a pattern, as in [path.Match]. A question mark
// is not among them: the query begins there.
const meta = `*[\`

// One reports whether the address names exactly one object.
func (a Address) One() bool {
	return a.Key != "" && !strings.HasSuffix(a.Key, "/") && !strings.ContainsAny(a.Key, meta)
}

// prefix is what all keys that the address may name begin with.
func (a Address) prefix() string {
	if i := strings.IndexAny(a.Key, meta); i >= 0 {
		return a.Key[:i]
	}
	return a.Key
}

// names reports whether the address, when it does not name one object, names this key.
func (a Address) names(key string) bool {
	if !strings.ContainsAny(a.Key, meta) {
		return strings.HasPrefix(key, a.Key)
	}
	ok, _ := path.Match(a.Key, key) // the pattern was tried by Parse
	return ok
}

// name is how reports call an object.
func (a Address) name(key string) string {
	if a.Scheme == "file" {
		return a.Bucket + key
	}
	return a.Scheme + "://" + a.Bucket + "/" + key
}

// String is the address without what is for the storage, which may hold secrets.
func (a Address) String() string { return a.name(a.Key) }

// Store is the bucket of the address, as blob.OpenBucket takes it.
func (a Address) Store() string {
	u := url.URL{Scheme: a.Scheme, Host: a.Bucket, RawQuery: a.query.Encode()}
	if a.Scheme == "file" {
		u.Host, u.Path = "", a.Bucket
	}
	return u.String()
}
