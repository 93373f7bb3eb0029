package canon

import "github.com/gowebpki/jcs"

// Reference returns the RFC 8785 form of src as gowebpki/jcs computes it,
// without any code of this package. Wherever both accept an input the bytes are
// those of [Transform]; that is tested on every vector and by fuzzing.
func Reference(src []byte) ([]byte, error) { return jcs.Transform(src) }
