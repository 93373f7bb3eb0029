// Package conn limits how long a client can make a server wait: for the body that it sends, the
// response that it reads, and the connections that it keeps open. [Shares] divide slots and memory
// among clients.
package conn
