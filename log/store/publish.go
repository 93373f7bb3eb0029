package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/log/client"
	"github.com/receiptkit/receiptkit/log/internal/durable"
	"github.com/receiptkit/receiptkit/log/tile"
	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// publishedFile is the name of the file that contains the last published checkpoint.
const publishedFile = "checkpoint"

// A publication contains the last published checkpoint.
type publication struct {
	mu         sync.Mutex
	note       []byte // nil: none
	checkpoint *tlog.Signed
	changed    chan struct{} // closed when the checkpoint changes
	at         time.Time     // time of publication; zero if it was before the start of this process
}

// wait returns the first published checkpoint that includes the entry with the given index.
func (p *publication) wait(ctx context.Context, index uint64) ([]byte, *tlog.Signed, error) {
	for {
		p.mu.Lock()
		note, c, changed := p.note, p.checkpoint, p.changed
		p.mu.Unlock()
		if c != nil && index < c.Size {
			return note, c, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

func (p *publication) set(note []byte, c *tlog.Signed, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note, p.checkpoint, p.at = note, c, at
	close(p.changed)
	p.changed = make(chan struct{})
}

// restore reads the checkpoint that was published last. It returns nil if there is none.
func (l *Log) restore() (*tlog.Signed, error) {
	note, err := l.dir.Read(publishedFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c, err := tlog.OpenSigned(note, []*tlog.Log{l.config.Key}, nil)
	if err != nil || len(c.Logs) == 0 {
		return nil, fmt.Errorf("the published checkpoint in %q is damaged, or is not signed by its key (%v)", l.config.Dir, err)
	}
	// That checkpoint is used until the next one is published, even if the policy has changed in
	// the meantime.
	l.published.set(note, c, time.Time{})
	return c, nil
}

// publish publishes a checkpoint whenever the tree has grown, or when the last cosignatures are
// older than the heartbeat.
func (l *Log) publish(ctx context.Context) {
	witnesses := client.NewWitnesses(&l.config.Policy)
	ticker := time.NewTicker(max(l.config.Interval/4, 25*time.Millisecond))
	defer ticker.Stop()
	for ctx.Err() == nil {
		if err := l.publishOnce(ctx, witnesses); err != nil && ctx.Err() == nil {
			l.warn(err)
			pause(ctx, l.config.Interval)
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

func (l *Log) publishOnce(ctx context.Context, witnesses *client.Witnesses) error {
	note, err := l.reader.ReadCheckpoint(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}

	p := &l.published
	p.mu.Lock()
	due := p.note == nil || !bytes.HasPrefix(p.note, note) || time.Since(p.at) >= l.config.Heartbeat
	p.mu.Unlock()
	if !due {
		return nil
	}

	// A checkpoint is treated as published only after the quorum has cosigned it and it is durable.
	signed, err := l.verify(note)
	if err != nil {
		return err
	}
	tree := &tile.Tree{Size: signed.Size, Root: signed.Root, Source: tile.Dir(l.config.Dir)}
	cosigned, err := witnesses.Cosign(ctx, note, tree)
	if err != nil {
		return err
	}
	if err := durable.Replace(l.dir, publishedFile, cosigned); err != nil {
		return fmt.Errorf("storing the published checkpoint: %w", err)
	}
	p.set(cosigned, signed, time.Now())
	return nil
}

func (l *Log) warn(err error) {
	if l.config.Warn != nil {
		l.config.Warn(err)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
