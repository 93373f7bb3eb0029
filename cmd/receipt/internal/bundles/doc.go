// Package bundles holds the verb bundle: its export, validate, sanitize, import and draft.
package bundles
