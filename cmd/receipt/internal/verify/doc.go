// Package verify implements the commands verify, merge, show, and diff.
package verify
