// Package conn limits how long a client can occupy a server: the time to send a body, the time to
// read a response, and the number of open connections. [Shares] divides slots and memory among
// clients.
package conn
