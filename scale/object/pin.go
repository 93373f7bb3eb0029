package object

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"gocloud.dev/blob"

	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A Pin identifies an object and, after the object has been opened, its version, so that other
// processes can open the same version. It is sent as JSON.
type Pin struct {
	Name    string          `json:"name"`    // name in reports
	Address string          `json:"address"` // address of the bucket, with the storage parameters
	Key     string          `json:"key"`
	Found   bool            `json:"found,omitzero"`   // found below a prefix instead of named
	Version json.RawMessage `json:"version,omitzero"` // absent: the newest version at the time of opening
}

// Buckets manages the connections of one process, which are opened on demand. It is safe for
// concurrent use.
type Buckets struct {
	mu   sync.Mutex
	open map[string]*blob.Bucket
}

// Bucket connects to the bucket at an address that blob.OpenBucket accepts.
func (b *Buckets) Bucket(ctx context.Context, address string) (*blob.Bucket, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if opened := b.open[address]; opened != nil {
		return opened, nil
	}
	opened, err := blob.OpenBucket(ctx, address)
	if err != nil {
		return nil, err
	}
	if b.open == nil {
		b.open = map[string]*blob.Bucket{}
	}
	b.open[address] = opened
	return opened, nil
}

// Close closes the connections.
func (b *Buckets) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, opened := range b.open {
		errs = append(errs, opened.Close())
	}
	b.open = nil
	return errors.Join(errs...)
}

// Source returns the source that a pin identifies and a function that returns the pin with the
// version that was opened. The context applies to all reads.
func (b *Buckets) Source(ctx context.Context, p Pin) (s stream.Source, pinned func() (Pin, error), err error) {
	bucket, err := b.Bucket(ctx, p.Address)
	if err != nil {
		return s, nil, fmt.Errorf("cannot open %s: %w", p.Name, err)
	}
	o := &object{ctx: ctx, bucket: bucket, key: p.Key}
	if p.Version != nil {
		o.pinned = new(version)
		if err := json.Unmarshal(p.Version, o.pinned); err != nil {
			return s, nil, fmt.Errorf("%s: its version: %w", p.Name, err)
		}
	}
	return o.source(p), func() (Pin, error) { return o.pin(p) }, nil
}

func (o *object) source(p Pin) stream.Source {
	return stream.Source{Name: p.Name, Found: p.Found, Open: o.open}
}

// pin returns p with the version that was opened, if any.
func (o *object) pin(p Pin) (_ Pin, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.pinned != nil {
		p.Version, err = json.Marshal(o.pinned)
	}
	return p, err
}
