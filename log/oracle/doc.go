// Package oracle tests the command receipt-log with processes that are killed, and reads what it
// wrote with golang.org/x/mod/sumdb/tlog and filippo.io/torchwood. It is a separate module, so
// that the log does not require them.
package oracle
