package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/fileblob"  // file://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	_ "gocloud.dev/blob/s3blob"    // s3://

	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A Listing is what addresses name.
type Listing struct {
	Sources []stream.Source // in the order of the addresses, below each by their keys
	Skipped []string        // objects below a prefix that no receipts are called like
	buckets []*blob.Bucket
}

// Close ends the connections. No source can be read afterwards.
func (l *Listing) Close() error {
	var errs []error
	for _, b := range l.buckets {
		errs = append(errs, b.Close())
	}
	return errors.Join(errs...)
}

// List finds the objects that addresses name. An address that names none is an error. The
// context bounds all that is read of them, too.
func List(ctx context.Context, addresses []Address) (*Listing, error) {
	l := &Listing{}
	open := map[string]*blob.Bucket{}
	for _, a := range addresses {
		b := open[a.bucket()]
		if b == nil {
			var err error
			if b, err = blob.OpenBucket(ctx, a.bucket()); err != nil {
				return nil, errors.Join(fmt.Errorf("%s cannot be opened: %w", a, err), l.Close())
			}
			open[a.bucket()] = b
			l.buckets = append(l.buckets, b)
		}
		if err := l.add(ctx, b, a); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", a, err), l.Close())
		}
	}
	return l, nil
}

func (l *Listing) add(ctx context.Context, b *blob.Bucket, a Address) error {
	if a.one() {
		l.Sources = append(l.Sources, source(ctx, b, a, a.Key, false))
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
			return fmt.Errorf("its objects cannot be listed: %w", err)
		}
		switch {
		case !a.names(o.Key) || strings.HasSuffix(o.Key, "/"): // what stands for a folder
		case !strings.ContainsAny(a.Key, meta) && !calledLikeReceipts(o.Key):
			l.Skipped = append(l.Skipped, a.name(o.Key))
		default:
			found++
			l.Sources = append(l.Sources, source(ctx, b, a, o.Key, true))
		}
	}

	if found == 0 {
		return errors.New("no object there is called *.json, *.jsonl, *.ndjson, *.cbor or *.cborseq, also with .gz or .zst at the end")
	}
	return nil
}

func source(ctx context.Context, b *blob.Bucket, a Address, key string, found bool) stream.Source {
	o := &object{ctx: ctx, bucket: b, key: key}
	return stream.Source{Name: a.name(key), Found: found, Open: o.open}
}

// calledLikeReceipts tells a key by its last segment, as the command receipt tells the
// files of a folder.
func calledLikeReceipts(key string) bool {
	name := strings.ToLower(path.Base(key))
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	return slices.Contains([]string{".json", ".jsonl", ".ndjson", ".cbor", ".cborseq"}, path.Ext(name))
}
