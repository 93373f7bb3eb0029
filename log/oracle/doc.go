// Package oracle tests the command "receipt-log" by killing its processes. It uses
// golang.org/x/mod/sumdb/tlog and filippo.io/torchwood to read what the command wrote. It is in a
// separate module, so that the log does not require these packages.
package oracle
