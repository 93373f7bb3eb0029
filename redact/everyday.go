//go:build !js

package redact

import (
	"reflect"
	"sync"

	"github.com/receiptkit/receiptkit/redact/secret"
)

// The detectors of [Default], which most policies have, are compiled once in a process. A
// scanner does not change, and compiles each detector when a text first has a word of it.
var (
	everyday        = sync.OnceValue(func() []secret.Detector { return Default().Detectors })
	everydayScanner = sync.OnceValues(func() (*secret.Scanner, error) { return secret.Compile(everyday()) })
)

// scannerOf compiles detectors.
func scannerOf(detectors []secret.Detector) (*secret.Scanner, error) {
	if len(detectors) == len(everyday()) && reflect.DeepEqual(detectors, everyday()) {
		return everydayScanner()
	}
	return secret.Compile(detectors)
}
