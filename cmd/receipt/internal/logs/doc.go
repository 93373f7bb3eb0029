// Package logs holds the verbs about many receipts that are kept: batch and ledger.
package logs
