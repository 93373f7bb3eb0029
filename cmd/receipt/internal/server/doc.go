// Package server holds the verb serve: flags, files that are watched, and the HTTP
// server around package receipt/serve.
package server
