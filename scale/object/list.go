package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/fileblob"  // file://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	_ "gocloud.dev/blob/s3blob"    // s3://

	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A Listing contains the objects that the addresses specify.
type Listing struct {
	Sources []stream.Source // sources in the order of the addresses, and sorted by key for each address
	Pins    []Pin           // pins of the sources
	Skipped []string        // objects with a matching prefix that CalledLikeReceipts does not accept
	buckets Buckets
}

// Close closes the connections to the storage. Afterward, no source can be read.
func (l *Listing) Close() error { return l.buckets.Close() }

// List finds the objects that the addresses specify. If an address specifies no object, List
// returns an error. The context also applies to all later reads.
func List(ctx context.Context, addresses []Address) (*Listing, error) {
	l := &Listing{}
	for _, a := range addresses {
		b, err := l.buckets.Bucket(ctx, a.Store())
		if err != nil {
			return nil, errors.Join(fmt.Errorf("cannot open %s: %w", a, err), l.Close())
		}
		if err := l.add(ctx, b, a); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", a, err), l.Close())
		}
	}
	return l, nil
}

func (l *Listing) add(ctx context.Context, b *blob.Bucket, a Address) error {
	if a.One() {
		l.found(ctx, b, Pin{Address: a.Store(), Name: a.name(a.Key), Key: a.Key})
		return nil
	}

	found := 0
	pages := b.List(&blob.ListOptions{Prefix: a.prefix()})
	for {
		o, err := pages.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("cannot list the objects: %w", err)
		}
		switch {
		case !a.names(o.Key) || strings.HasSuffix(o.Key, "/"): // this object is a placeholder for a directory
		case !strings.ContainsAny(a.Key, meta) && !CalledLikeReceipts(o.Key):
			l.Skipped = append(l.Skipped, a.name(o.Key))
		default:
			found++
			l.found(ctx, b, Pin{Address: a.Store(), Name: a.name(o.Key), Key: o.Key, Found: true})
		}
	}

	if found == 0 {
		return errors.New("no object there is named *.json, *.jsonl, *.ndjson, *.cbor, or *.cborseq, optionally followed by .gz or .zst")
	}
	return nil
}

func (l *Listing) found(ctx context.Context, b *blob.Bucket, p Pin) {
	o := &object{ctx: ctx, bucket: b, key: p.Key}
	l.Pins = append(l.Pins, p)
	l.Sources = append(l.Sources, o.source(p))
}

// CalledLikeReceipts reports whether the last segment of a key or path looks like the name of a
// file with receipts. The command "receipt" applies the same rules to directories.
func CalledLikeReceipts(key string) bool {
	return stream.IsInput(path.Base(filepath.ToSlash(key)))
}
