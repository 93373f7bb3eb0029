// Command receipt-postgres is the command "receipt" with support for ledgers in PostgreSQL:
//
//	receipt-postgres ledger fsck 'postgres://user@host/database' --keys keys.json
package main

import (
	"github.com/receiptkit/receiptkit/cmd/receipt/commands"
	"github.com/receiptkit/receiptkit/postgres"
)

func main() { commands.Main(postgres.Driver()) }
