// Package conn limits how long a client can make a server wait: for the body that it sends, the
// answer that it reads, and the connections that it keeps open. [Shares] divide places and memory
// among clients.
package conn
