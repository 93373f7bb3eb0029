// Package keyring holds the verb keys: generate, list, import, revoke, export, public.
package keyring
