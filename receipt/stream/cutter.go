package stream

import (
	"fmt"
	"io"
)

// A cutter cuts an input into pieces. The error is io.EOF at the end, and
// otherwise says why the rest of the input cannot be read.
type cutter interface {
	next() (piece, error)
	// ready reports whether the next piece can be had without waiting for
	// more input.
	ready() bool
}

// heldPieces were cut out at once.
type heldPieces struct {
	list []piece
}

func (l *heldPieces) ready() bool { return true }

func (l *heldPieces) next() (piece, error) {
	if len(l.list) == 0 {
		return piece{}, io.EOF
	}
	d := l.list[0]
	l.list = l.list[1:]
	return d, nil
}

// A chosen cutter hands out one document of another and ends.
type chosen struct {
	cutter
	index int
	done  bool
}

func (c *chosen) ready() bool { return c.done || c.cutter.ready() }

func (c *chosen) next() (piece, error) {
	if c.done {
		return piece{}, io.EOF
	}
	for {
		d, err := c.cutter.next()
		switch {
		case err == io.EOF:
			return d, fmt.Errorf("it has no document %d", c.index)
		case err != nil:
			return d, err
		case d.index == c.index:
			c.done = true
			return d, nil
		}
	}
}
