module github.com/receiptkit/receiptkit/log/oracle

go 1.26.0

replace github.com/receiptkit/receiptkit => ../..

require (
	filippo.io/torchwood v0.9.0
	github.com/receiptkit/receiptkit v0.0.0-00010101000000-000000000000
	golang.org/x/mod v0.42.0
)

require (
	filippo.io/edwards25519 v1.2.0 // indirect
	filippo.io/mldsa v1.0.0 // indirect
	github.com/go-jose/go-jose/v4 v4.1.8 // indirect
	github.com/gowebpki/jcs v1.0.2 // indirect
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)
