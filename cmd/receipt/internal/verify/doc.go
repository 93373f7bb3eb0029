// Package verify implements the commands that check receipts: verify, merge, show, diff, and replay.
package verify
