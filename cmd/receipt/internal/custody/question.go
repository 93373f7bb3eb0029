package custody

import (
	"crypto"
	"time"
)

// The question to a plugin, as package cliplugin of sigstore has it in its
// common/interface.go and common/options.go. What callers of it never leave out is not
// left out here: plugins may rely on it.
type (
	pluginQuestion struct {
		Init        pluginInit       `json:"initOptions"`
		Method      string           `json:"methodName"`
		PublicKey   *publicKeyArgs   `json:"publicKey,omitempty"`
		SignMessage *signMessageArgs `json:"signMessage,omitempty"`
	}

	pluginInit struct {
		Deadline time.Time   `json:"ctxDeadline"`
		Protocol string      `json:"protocolVersion"`
		Key      string      `json:"keyResourceID"` // without NAME://
		Hash     crypto.Hash `json:"hashFunc"`      // as a number: SHA-256 is 5
		RPC      rpcOptions  `json:"rpcOptions"`
	}

	publicKeyArgs struct {
		Options publicKeyOptions `json:"publicKeyOptions"`
	}

	publicKeyOptions struct {
		RPC rpcOptions `json:"rpcOptions"`
	}

	signMessageArgs struct {
		Options signOptions `json:"signOptions"`
	}

	signOptions struct {
		RPC     rpcOptions     `json:"rpcOptions"`
		Message messageOptions `json:"messageOptions"`
	}

	rpcOptions struct {
		Deadline     time.Time `json:"ctxDeadline"`
		Version      string    `json:"keyVersion"` // "": the plugin's
		Verification bool      `json:"remoteVerification"`
	}

	// The message is on stdin, so that no digest is given.
	messageOptions struct{}
)

// rpcUntil are the options of a question that is answered by a time.
func rpcUntil(deadline time.Time) rpcOptions { return rpcOptions{Deadline: deadline.UTC()} }
