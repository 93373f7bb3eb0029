// Package oracle tests the command receipt-log with processes that are killed. It reads what the
// command wrote with golang.org/x/mod/sumdb/tlog and filippo.io/torchwood. It is in a separate
// module, so that the log does not require these packages.
package oracle
