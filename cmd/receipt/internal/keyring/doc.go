// Package keyring holds the verb keys: generate, list, import, revoke, export.
package keyring
