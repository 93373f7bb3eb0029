package tile_test

import (
	"context"

	"github.com/receiptkit/receiptkit/log/tile"
)

// An overlay is a source in which the content of one file is replaced.
type overlay struct {
	tile.Source
	path string
	data []byte
}

func (o overlay) Read(ctx context.Context, path string) ([]byte, error) {
	if path == o.path {
		return o.data, nil
	}
	return o.Source.Read(ctx, path)
}
