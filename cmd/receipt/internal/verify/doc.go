// Package verify holds the verbs that look at receipts: verify, merge, show and diff.
package verify
