package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/receiptkit/receiptkit/receipt/stream"
)

// An object is a single source. It is safe for concurrent use.
type object struct {
	ctx    context.Context
	bucket *blob.Bucket
	key    string

	mu     sync.Mutex
	pinned *version // set when the object is first opened
}

// open opens the pinned version. If no version is pinned, open opens the current version and pins
// it.
func (o *object) open() (io.ReadCloser, error) {
	o.mu.Lock()
	defer o.mu.Unlock()

	var want version
	if o.pinned != nil {
		want = *o.pinned
	}
	r, err := o.at(0, want, o.pinned != nil)
	if err != nil {
		return nil, err
	}
	if o.pinned == nil {
		v := versionOf(r)
		o.pinned = &v
	}
	return &reading{object: o, version: *o.pinned, r: r}, nil
}

// at opens a version at the given offset. If the version is pinned, any other response leads to
// [stream.ErrChanged].
func (o *object) at(offset int64, want version, pinned bool) (*blob.Reader, error) {
	r, err := o.bucket.NewRangeReader(o.ctx, o.key, offset, -1, &blob.ReaderOptions{BeforeRead: want.ask})
	switch code := gcerrors.Code(err); {
	case err == nil && pinned && !want.same(versionOf(r)):
		r.Close()
		return nil, fmt.Errorf("%w: the object was replaced", stream.ErrChanged)
	case err == nil:
		return r, nil
	case pinned && code == gcerrors.FailedPrecondition:
		return nil, fmt.Errorf("%w: the object was replaced", stream.ErrChanged)
	case pinned && code == gcerrors.NotFound:
		return nil, fmt.Errorf("%w: the object was deleted", stream.ErrChanged)
	case code == gcerrors.NotFound:
		return nil, errors.New("the object does not exist")
	case code == gcerrors.PermissionDenied:
		return nil, fmt.Errorf("the storage refuses access: %w", err)
	}
	return nil, err
}

// attempts is the maximum number of consecutive times that a read is resumed without receiving any
// bytes.
const attempts = 3

// A reading reads a version until its end, even if the connection is interrupted.
type reading struct {
	*object
	version version
	r       *blob.Reader
	offset  int64
	failed  int // number of consecutive failures
}

func (r *reading) Read(p []byte) (int, error) {
	for {
		n, err := r.r.Read(p)
		r.offset += int64(n)
		if n > 0 {
			r.failed = 0
		}
		if err == io.EOF && r.offset < r.version.Size {
			err = io.ErrUnexpectedEOF
		}
		if n > 0 && err != io.EOF {
			return n, nil // the error is returned by the next call
		}
		if err == nil || err == io.EOF {
			return n, err
		}
		if err := r.again(err); err != nil {
			return 0, err
		}
	}
}

// again resumes a read that was interrupted. If it returns an error, reading ends.
func (r *reading) again(cause error) error {
	for r.failed < attempts && r.ctx.Err() == nil {
		r.failed++
		next, err := r.at(r.offset, r.version, true)
		if err == nil {
			r.r.Close()
			r.r = next
			return nil
		}
		if errors.Is(err, stream.ErrChanged) {
			return err
		}
		cause = err
	}
	return cause
}

func (r *reading) Close() error { return r.r.Close() }
