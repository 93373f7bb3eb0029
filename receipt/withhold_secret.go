//go:build !js

package receipt

import (
	"sync"

	"github.com/receiptkit/receiptkit/redact/secret"
)

// names finds secrets. Few reports need it, so it is compiled for the first of them.
var names = sync.OnceValues(func() (*secret.Scanner, error) { return secret.Compile(secret.Default()) })

// secretIn reports whether a text holds a secret, also when nobody can tell.
func secretIn(text string) bool {
	scanner, err := names()
	return err != nil || len(scanner.Scan([]byte(text), nil)) > 0
}
