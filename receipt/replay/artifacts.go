package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/receiptkit/receiptkit/canon"
)

// maxArtifact is the maximum size, in bytes, of an artifact in a replay.
const maxArtifact = 64 << 20

// A Wanted identifies content that is stored in neither the log nor the request.
type Wanted struct {
	ID     string       // ID of the artifact of an override; "" for a recorded answer
	URI    string       // location of the answer according to the log; "" if unreported
	SHA256 canon.Digest // digest of the answer; zero if unknown
}

// Artifacts returns content that is stored in neither the log nor the request. If the content does
// not exist, the error wraps [fs.ErrNotExist]. The function must be safe for concurrent use.
type Artifacts func(ctx context.Context, w Wanted) ([]byte, error)

// Files returns an Artifacts that reads the files of a directory. The name of a file is the
// artifact ID that an override in the request specifies, or the 64 hexadecimal digits of a recorded
// answer's digest. If the request is untrusted, the directory must contain nothing else, and must
// be the FS of an os.Root, so that no link leads out of the directory.
func Files(folder fs.FS) Artifacts {
	return func(_ context.Context, w Wanted) ([]byte, error) { return readFile(folder, w) }
}

func readFile(folder fs.FS, w Wanted) ([]byte, error) {
	name := w.ID
	if name == "" && !w.SHA256.IsZero() {
		name = w.SHA256.String()[len("sha256:"):]
	}

	if !fs.ValidPath(name) || name == "." {
		return nil, fs.ErrNotExist
	}

	file, err := folder.Open(name)
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

// recorded returns an answer for which the log contains only the digest. A JSON value may be stored
// in any form, because the digest may be computed either from the canonical form or from the stored
// bytes.
func recorded(ctx context.Context, from Artifacts, w Wanted) ([]byte, bool, error) {
	if w.SHA256.IsZero() && w.URI == "" {
		return nil, false, nil
	}
	data, err := from(ctx, w)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case canon.Sum(data) == w.SHA256:
		return data, true, nil
	}

	text, err := canon.Transform(data)
	if err != nil || canon.Sum(text) != w.SHA256 { // the stored content is different
		return nil, false, nil
	}
	return text, true, nil
}
