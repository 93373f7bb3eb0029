// Package custody finds private keys and signs with them. A key is in a file, in an ssh-agent, or
// in a service that is reached through a plugin.
//
// The name of a key is a file path, or has one of these forms:
//
//	agent:SHA256:…   a key of the ssh-agent at $SSH_AUTH_SOCK, by the fingerprint that
//	                 ssh-add -l prints
//	NAME://KEY       the key KEY of the plugin sigstore-kms-NAME on PATH
//
// Signatures from an agent or a plugin are verified with the public key before they are returned.
// Each signature requires one request, and the caller specifies the maximum wait.
package custody
