// Package custody finds private keys where people keep them, and signs with them: in a
// file, in an ssh-agent, or in a service behind a plugin.
//
// A name of a key is the path of a file, or
//
//	agent:SHA256:…   a key of the ssh-agent at $SSH_AUTH_SOCK, by the fingerprint that
//	                 ssh-add -l prints
//	NAME://KEY       the key KEY of the plugin sigstore-kms-NAME on PATH
//
// What an agent or a plugin returns is verified with the public key before anybody gets
// it. Either is asked once for each signature, and waited for as long as the caller said.
package custody
