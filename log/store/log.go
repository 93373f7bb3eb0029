package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/transparency-dev/tessera"
	"github.com/transparency-dev/tessera/storage/posix"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/log/internal/durable"
	"github.com/receiptkit/receiptkit/log/tile"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// A Config configures a log.
type Config struct {
	Dir string

	// Sign returns a checkpoint as a note that is signed by the log. Key verifies this signature.
	Sign func(ctx context.Context, c *tlog.Checkpoint) ([]byte, error)
	Key  *tlog.Log

	// Policy specifies the witnesses, with their URLs, and the quorum that a published checkpoint
	// needs. The logs in the policy are not used. The zero Policy has no witnesses. Open rejects a
	// policy without witnesses if the last published checkpoint has cosignatures, because the log
	// would replace that checkpoint with one that has no cosignatures.
	Policy tlog.Policy

	// Interval is the time between checkpoints, which must be at least 100 ms. The default (0) is
	// one second.
	Interval time.Duration

	// Heartbeat is the time after which an unchanged tree is cosigned again. The default (0) is ten
	// minutes.
	Heartbeat time.Duration

	// Warn is called with errors after which the log retries or continues, such as errors from
	// witnesses.
	Warn func(error)
}

// A Log is a log that is open for appending. It is safe for concurrent use.
type Log struct {
	config  Config
	dir     *durable.Dir
	tessera *tessera.Appender
	reader  tessera.LogReader
	stop    func(context.Context) error // of Tessera
	cancel  context.CancelFunc
	done    sync.WaitGroup

	// Failed is closed when the log can no longer determine which entries it contains.
	Failed chan struct{}

	mu      sync.Mutex
	failure error
	indexes map[canon.Digest]uint64 // hashes of the entries in the log
	adding  map[canon.Digest]*entry

	published publication
}

// An entry is a hash that is being added.
type entry struct {
	index uint64
	err   error
	ready chan struct{} // closed when index or err is set
}

// ErrBusy indicates that too many entries are waiting to be added. A later request may succeed.
var ErrBusy = errors.New("the log is busy")

// Open opens a log. If the directory does not contain a log, Open creates one.
func Open(ctx context.Context, c Config) (*Log, error) {
	if c.Interval == 0 {
		c.Interval = time.Second
	}
	if c.Heartbeat == 0 {
		c.Heartbeat = 10 * time.Minute
	}
	c.Policy.Logs = []tlog.PolicyLog{{Log: c.Key}}
	quietTessera(c.Warn)

	dir, err := durable.OpenDir(filepath.Join(c.Dir, ".receipt-log"))
	if err != nil {
		return nil, err
	}
	l := &Log{config: c, dir: dir, indexes: map[canon.Digest]uint64{}, adding: map[canon.Digest]*entry{}, Failed: make(chan struct{})}
	l.published.changed = make(chan struct{})
	if err := l.open(ctx); err != nil {
		dir.Close()
		return nil, err
	}
	return l, nil
}

func (l *Log) open(ctx context.Context) error {
	if err := l.own(); err != nil {
		return err
	}

	// Tessera's background work has a separate context, which ends after Close.
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	driver, err := posix.New(background, posix.Config{Path: l.config.Dir})
	if err == nil {
		options := tessera.NewAppendOptions().
			WithCheckpointSigner(&signer{background, l.config}).
			WithCheckpointInterval(l.config.Interval).
			WithCheckpointRepublishInterval(0).
			WithBatching(256, min(l.config.Interval/2, 250*time.Millisecond))
		l.tessera, l.stop, l.reader, err = tessera.NewAppender(background, driver, options)
	}
	if err == nil {
		err = l.load(background)
	}
	if err != nil {
		cancel()
		return err
	}

	l.cancel = cancel
	l.done.Go(func() { l.publish(background) })
	return nil
}

// own records the key of the log in a new directory, and rejects a directory that belongs to
// another key. Without this check, Tessera would continue the tree under another name, because it
// does not store the origin.
func (l *Log) own() error {
	const name = "key"
	key := l.config.Key.String() + "\n"
	stored, err := l.dir.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return durable.Replace(l.dir, name, []byte(key))
	}
	if err == nil && string(stored) != key {
		err = fmt.Errorf("%q is the log of the key %q, not of %q", l.config.Dir, stored, key)
	}
	return err
}

// load reads the hashes of all entries, and checks the root of each signed checkpoint and the hash
// tiles against them.
func (l *Log) load(ctx context.Context) error {
	note, err := l.reader.ReadCheckpoint(ctx)
	if err != nil {
		return fmt.Errorf("reading the checkpoint: %w", err)
	}
	signed, err := l.verify(note)
	if err != nil {
		return err
	}
	published, err := l.restore()
	if err != nil {
		return err
	}
	if published != nil && len(published.Unknown) > 0 && len(l.config.Policy.Witnesses) == 0 {
		return fmt.Errorf("the published checkpoint of %q has cosignatures, but the policy has no witnesses: the log would replace it with a checkpoint without cosignatures", l.config.Dir)
	}
	if published != nil && published.Size > signed.Size {
		return fmt.Errorf("%q was rolled back: its entries end at %d, but it published a checkpoint of size %d", l.config.Dir, signed.Size, published.Size)
	}

	// The tree may contain entries that no checkpoint covers yet.
	size, err := l.reader.IntegratedSize(ctx)
	if err != nil {
		return err
	}
	tree, tiles := new(merkle.Tree), &hashTiles{dir: l.config.Dir, size: size}
	for i, data := range bundles(ctx, l.reader, size, &err) {
		if size := len(canon.Digest{}); len(data) != size {
			return fmt.Errorf("entry %d has %d bytes, and the entries of this log have %d", i, len(data), size)
		}
		hash := canon.Digest(data)
		if _, known := l.indexes[hash]; !known { // if a hash occurs repeatedly, its first index is used
			l.indexes[hash] = i
		}
		leaf := merkle.LeafHash(data)
		tree.Append(leaf)
		tiles.add(leaf)
		for _, c := range []*tlog.Signed{signed, published} {
			if c == nil || c.Size != tree.Size() {
				continue
			}
			if c.Root != tree.Root() {
				return fmt.Errorf("the entries of %q are not those that it signed: the root of the first %d is %v, and the checkpoint has %v", l.config.Dir, c.Size, tree.Root(), c.Root)
			}
			tiles.compareEdge()
		}
	}
	if err == nil && tree.Size() < signed.Size {
		err = fmt.Errorf("%q has %d entries, and it signed a checkpoint of size %d", l.config.Dir, tree.Size(), signed.Size)
	}
	if err != nil {
		return err
	}
	tiles.compareEdge()
	return tiles.failure
}

// verify opens a checkpoint that Tessera signed.
func (l *Log) verify(note []byte) (*tlog.Signed, error) {
	s, err := tlog.OpenSigned(note, []*tlog.Log{l.config.Key}, nil)
	if err == nil && len(s.Logs) == 0 {
		err = fmt.Errorf("the checkpoint in %q is not signed by its key", l.config.Dir)
	}
	return s, err
}

// Add adds a receipt hash unless the log already contains it, and waits for a published checkpoint
// that includes the hash. It returns the inclusion proof as a C2SP tlog-proof. If Add returns an
// error, the hash may nevertheless be in the log. Another call then returns the proof for it.
func (l *Log) Add(ctx context.Context, hash canon.Digest) ([]byte, error) {
	index, e, err := l.enter(hash)
	if err != nil {
		return nil, err
	}
	if e != nil {
		select {
		case <-e.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if e.err != nil {
			return nil, e.err
		}
		index = e.index
	}
	return l.prove(ctx, index)
}

// enter returns the index of a hash that is in the log, or an entry for a hash that is being added.
func (l *Log) enter(hash canon.Digest) (uint64, *entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if index, known := l.indexes[hash]; known {
		return index, nil, nil
	}
	if e := l.adding[hash]; e != nil {
		return 0, e, nil
	}
	if l.failure != nil {
		return 0, nil, l.failure
	}

	// The context of the request is not used, because an entry that was handed over is added even
	// if the client disconnects.
	e := &entry{ready: make(chan struct{})}
	l.adding[hash] = e
	future := l.tessera.Add(context.Background(), tessera.NewEntry(hash[:]))
	go l.settle(hash, e, future)
	return 0, e, nil
}

// settle waits until an entry is durable.
func (l *Log) settle(hash canon.Digest, e *entry, future tessera.IndexFuture) {
	index, err := future()
	l.mu.Lock()
	defer l.mu.Unlock()
	defer close(e.ready)
	switch {
	case err == nil:
		e.index = index.Index
		l.indexes[hash] = e.index
		delete(l.adding, hash)
	case errors.Is(err, tessera.ErrPushback):
		e.err = ErrBusy
		delete(l.adding, hash)
	default:
		// The entry may be in the tree, so nothing may be added until the entries are read again.
		e.err = fmt.Errorf("adding an entry: %w; the log stops, and reads its entries when it starts again", err)
		if l.failure == nil {
			l.failure = e.err
			close(l.Failed)
		}
	}
}

// Proof returns a proof for a hash that is in the log. If the hash is not in the log, the error is
// fs.ErrNotExist.
func (l *Log) Proof(ctx context.Context, hash canon.Digest) ([]byte, error) {
	l.mu.Lock()
	_, known := l.indexes[hash]
	adding := l.adding[hash]
	l.mu.Unlock()
	if !known && adding == nil {
		return nil, fs.ErrNotExist
	}
	return l.Add(ctx, hash)
}

// A damageError indicates that a hash tile is missing or invalid. It does not wrap fs.ErrNotExist,
// because that error means that a hash is not in the log.
type damageError struct{ err error }

func (e *damageError) Error() string { return "the log is damaged: " + e.err.Error() }

// prove waits for a checkpoint that includes the entry with the given index, and returns the proof.
func (l *Log) prove(ctx context.Context, index uint64) ([]byte, error) {
	note, c, err := l.published.wait(ctx, index)
	if err != nil {
		return nil, err
	}
	tree := tile.Tree{Size: c.Size, Root: c.Root, Source: tile.Dir(l.config.Dir)}
	hashes, err := tree.Inclusion(ctx, index)
	if err != nil {
		return nil, &damageError{err}
	}
	return (&tlog.Proof{Index: index, Hashes: hashes, Checkpoint: note}).Format(), nil
}

// Checkpoint returns the last published checkpoint. If there is none, the error is fs.ErrNotExist.
func (l *Log) Checkpoint() ([]byte, error) {
	l.published.mu.Lock()
	defer l.published.mu.Unlock()
	if l.published.note == nil {
		return nil, fs.ErrNotExist
	}
	return l.published.note, nil
}

// Close waits until a checkpoint by Tessera covers everything that was added, and releases the
// directory.
func (l *Log) Close(ctx context.Context) error {
	err := l.stop(ctx)
	l.cancel()
	l.done.Wait()
	return errors.Join(err, l.dir.Close())
}
