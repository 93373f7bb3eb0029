package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// isArtifact reports whether a directory is an AEL artifact. An artifact is one input.
func isArtifact(dir string) bool {
	f, err := os.Open(filepath.Join(dir, "manifest.json"))
	if err != nil {
		return false
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, kind.Head))
	return err == nil && kind.Of(head, true).Kind == "ael-artifact"
}

// artifactSource returns an artifact as one document, which includes the text of each file.
func artifactSource(dir string) stream.Source {
	return stream.Source{Name: dir, Found: true, Open: func() (io.ReadCloser, error) {
		files, size := map[string]string{}, 0
		err := filepath.WalkDir(WithSlash(dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			name, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			if size += int(info.Size()); size > receipt.MaxBytes/2 {
				return fmt.Errorf("the artifact has more than %d bytes", receipt.MaxBytes/2)
			}
			text, err := os.ReadFile(path)
			files[filepath.ToSlash(name)] = string(text)
			return err
		})
		if err != nil {
			return nil, cli.Reason(err)
		}
		text, err := json.Marshal(map[string]any{"ael_directory": files})
		if err != nil {
			return nil, errors.New("the artifact cannot be read as JSON")
		}
		return io.NopCloser(bytes.NewReader(text)), nil
	}}
}
