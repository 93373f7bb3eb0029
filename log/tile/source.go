package tile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxFile is the maximum size of a file in a log, in bytes. It is the size of an entry bundle that
// contains 256 entries of 65,535 bytes.
const maxFile = 256 * (2 + 65_535)

// A Source provides the files of a log.
type Source interface {
	// Read returns the file with the given path, such as "tile/0/000". If the log has no such file,
	// the error is fs.ErrNotExist.
	Read(ctx context.Context, path string) ([]byte, error)
}

// Dir is a log in a directory.
type Dir string

// Read implements Source.
func (d Dir) Read(_ context.Context, path string) ([]byte, error) {
	return os.ReadFile(filepath.Join(string(d), filepath.FromSlash(path)))
}

// HTTP is a log at a URL.
type HTTP struct {
	url    string
	client *http.Client
}

// NewHTTP returns the log at a URL. Each request is limited by the timeout.
func NewHTTP(url string, timeout time.Duration) *HTTP {
	return &HTTP{strings.TrimSuffix(url, "/"), &http.Client{Timeout: timeout}}
}

// Read implements Source.
func (h *HTTP) Read(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url+"/"+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := h.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()

	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusGone:
		return nil, &fs.PathError{Op: "get", Path: request.URL.String(), Err: fs.ErrNotExist}
	default:
		return nil, fmt.Errorf("get %s: status %d", request.URL, response.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = errors.New("file is too large")
	}
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", request.URL, err)
	}
	return data, nil
}
