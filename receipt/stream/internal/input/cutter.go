package input

import (
	"fmt"
	"io"
)

// A cutter splits an input into pieces. Next returns io.EOF after the last piece; any other error
// means that the rest of the input cannot be read.
type cutter interface {
	Next() (Piece, error)
	// Ready reports whether Next can return a piece without waiting for input.
	Ready() bool
}

// A heldPieces value is a cutter that returns pieces that are already in memory.
type heldPieces struct {
	list []Piece
}

func (l *heldPieces) Ready() bool { return true }

func (l *heldPieces) Next() (Piece, error) {
	if len(l.list) == 0 {
		return Piece{}, io.EOF
	}
	d := l.list[0]
	l.list = l.list[1:]
	return d, nil
}

// A chosen cutter returns a single document from another cutter.
type chosen struct {
	cutter
	index int
	done  bool
}

func (c *chosen) Next() (Piece, error) {
	if c.done {
		return Piece{}, io.EOF
	}
	for {
		d, err := c.cutter.Next()
		switch {
		case err == io.EOF:
			return d, fmt.Errorf("input has no document %d", c.index)
		case err != nil:
			return d, err
		case d.Index == c.index:
			c.done = true
			return d, nil
		}
	}
}
