// Package serve verifies receipts over HTTP, and gives out stored ones.
package serve
