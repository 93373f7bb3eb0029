package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/receiptkit/receiptkit/canon"
)

// maxArtifact is how many bytes an artifact may have that is used in a replay.
const maxArtifact = 64 << 20

// A Wanted is what is known of something that is kept outside of the log and the request.
type Wanted struct {
	ID     string       // of the artifact of an override; "": it is a recorded answer
	URI    string       // where the log says that it is kept; "": it does not
	SHA256 canon.Digest // of the answer; zero: nothing tells
}

// Artifacts finds what is kept outside of the log and the request. It must be safe for
// concurrent use.
type Artifacts interface {
	// Artifact returns the bytes. An error for what is not there wraps [fs.ErrNotExist].
	Artifact(ctx context.Context, w Wanted) ([]byte, error)
}

// Files finds artifacts among the files of a folder: those of overrides by their ids,
// recorded answers by the 64 hexadecimal digits of their digests. Whoever makes a request
// names the files: where that is a stranger the folder holds nothing else, and is the FS of
// an os.Root, which no link leads out of.
func Files(folder fs.FS) Artifacts { return files{folder} }

type files struct{ folder fs.FS }

// Artifact reads a file.
func (f files) Artifact(_ context.Context, w Wanted) ([]byte, error) {
	name := w.ID
	if name == "" && !w.SHA256.IsZero() {
		name = w.SHA256.String()[len("sha256:"):]
	}

	if !fs.ValidPath(name) || name == "." {
		return nil, fs.ErrNotExist
	}

	file, err := f.folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()

	data, err := io.ReadAll(io.LimitReader(file, maxArtifact+1))
	if err == nil && len(data) > maxArtifact {
		err = fmt.Errorf("replay: the file %s has more than %d bytes", quote(name), maxArtifact)
	}
	return data, err
}

// none are the artifacts of who has none.
type none struct{}

func (none) Artifact(context.Context, Wanted) ([]byte, error) { return nil, fs.ErrNotExist }

// recorded finds an answer of which the log has the digest alone. A JSON value may be kept
// in any form: the digest is of the canonical one, or of the bytes as they are.
func recorded(ctx context.Context, from Artifacts, w Wanted) ([]byte, bool, error) {
	if w.SHA256.IsZero() && w.URI == "" {
		return nil, false, nil
	}
	data, err := from.Artifact(ctx, w)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case canon.Sum(data) == w.SHA256:
		return data, true, nil
	}

	text, err := canon.Transform(data)
	if err != nil || canon.Sum(text) != w.SHA256 { // something else is kept there
		return nil, false, nil
	}
	return text, true, nil
}
