// Package custodytest has key services for tests: a plugin, which is a process of its own,
// and ssh-agents that listen on a socket. They do as they are told, also what no good one
// would.
package custodytest
