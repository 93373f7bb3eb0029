package custodytest

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Plugin is the main function of a plugin that has the keys of [Key]. A key is named by
// its name, and what happens instead when it is asked for (key) or signs (sign), as in
// "ed25519?sign=deny".
func Plugin() {
	q, err := question()
	if err != nil {
		answer(map[string]any{"errorMessage": err.Error()})
		return
	}
	name, query, _ := strings.Cut(q.Init.KeyResourceID, "?")
	behave, err := url.ParseQuery(query)
	if err != nil {
		answer(map[string]any{"errorMessage": err.Error()})
		return
	}

	switch q.MethodName {
	case "publicKey":
		if !misbehaves(behave.Get("key"), q.MethodName) {
			publicKey(name)
		}
	case "signMessage":
		message, err := io.ReadAll(os.Stdin)
		if err != nil {
			answer(map[string]any{"errorMessage": err.Error()})
			return
		}
		how := behave.Get("sign")
		switch how {
		case "other-key":
			name = "other-" + name
		case "other-message":
			message = append(message, '.')
		}
		if !misbehaves(how, q.MethodName) {
			sign(name, message, q.Init.HashFunc)
		}
	default:
		answer(map[string]any{"errorMessage": "unsupported method: " + q.MethodName})
	}
}

// A pluginQuestion is what sigstore's package common says that a plugin is asked.
type pluginQuestion struct {
	Init struct {
		CtxDeadline     *time.Time  `json:"ctxDeadline"`
		ProtocolVersion string      `json:"protocolVersion"`
		KeyResourceID   string      `json:"keyResourceID"`
		HashFunc        crypto.Hash `json:"hashFunc"`
		RPCOptions      *rpcOptions `json:"rpcOptions"`
	} `json:"initOptions"`
	MethodName string `json:"methodName"`
	PublicKey  *struct {
		Options *struct {
			RPCOptions rpcOptions `json:"rpcOptions"`
		} `json:"publicKeyOptions"`
	} `json:"publicKey"`
	SignMessage *struct {
		Options *struct {
			RPCOptions     rpcOptions `json:"rpcOptions"`
			MessageOptions struct {
				Digest   *[]byte      `json:"digest"`
				HashFunc *crypto.Hash `json:"hashFunc"`
			} `json:"messageOptions"`
		} `json:"signOptions"`
	} `json:"signMessage"`
}

type rpcOptions struct {
	CtxDeadline        *time.Time `json:"ctxDeadline"`
	KeyVersion         *string    `json:"keyVersion"`
	RemoteVerification *bool      `json:"remoteVerification"`
}

// question reads the arguments, and refuses what the protocol does not know, and the
// lack of what its plugins look at.
func question() (q pluginQuestion, err error) {
	if len(os.Args) != 3 || os.Args[1] != "v1" {
		return q, fmt.Errorf("expected the arguments v1 and JSON, found %q", os.Args[1:])
	}
	d := json.NewDecoder(strings.NewReader(os.Args[2]))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		return q, err
	}

	rpc := q.Init.RPCOptions
	switch {
	case q.Init.ProtocolVersion != "v1" || q.Init.HashFunc == 0 || rpc == nil || rpc.KeyVersion == nil || rpc.RemoteVerification == nil:
		return q, fmt.Errorf("the question lacks what a plugin is told: %s", os.Args[2])
	case q.Init.CtxDeadline == nil || !q.Init.CtxDeadline.After(time.Now()):
		return q, fmt.Errorf("the question has no time until which it is asked: %s", os.Args[2])
	case q.MethodName == "signMessage" && (q.SignMessage == nil || q.SignMessage.Options == nil),
		q.MethodName == "publicKey" && (q.PublicKey == nil || q.PublicKey.Options == nil):
		return q, fmt.Errorf("the method has no arguments: %s", os.Args[2])
	}
	return q, nil
}

// misbehaves does what no good plugin does, and reports whether that was all.
func misbehaves(how, method string) bool {
	switch how {
	case "deny":
		answer(map[string]any{"errorMessage": "the operator said \x1b[31mno\nand left"})
	case "secret":
		fmt.Fprintln(os.Stderr, "login with "+"ghp"+"_0123456789abcdefghijABCDEFGHIJ012345 failed "+strings.Repeat("x", 10_000))
		answer(map[string]any{"errorMessage": "no session"})
	case "slow":
		time.Sleep(time.Hour)
	case "family": // has a child that holds everything open
		beget()
		time.Sleep(time.Hour)
	case "orphan": // leaves one behind, and answers
		beget()
		return false
	case "wait": // until who listens hangs up
		tell(os.Getpid(), true)
		return false
	case "silent":
	case "nonsense":
		fmt.Print("<html>504</html>")
	case "list":
		fmt.Print("[]")
	case "cut":
		fmt.Printf(`{"%s":{"signature":"AAAA`, method)
		os.Exit(7)
	case "twice":
		fmt.Printf(`{"%s":{"signature":"AAAA","signature":"BBBB"}}`, method)
	case "short":
		answer(map[string]any{method: map[string]any{"signature": make([]byte, 63)}})
	case "text":
		fmt.Printf(`{"%s":{"signature":"not base64!"}}`, method)
	case "other-method":
		answer(map[string]any{"defaultAlgorithm": map[string]any{"defaultAlgorithm": "x"}})
	case "loud":
		for block := bytes.Repeat([]byte("x"), 1<<16); ; {
			if _, err := os.Stdout.Write(block); err != nil {
				time.Sleep(time.Hour)
			}
		}
	case "mutter": // says something, answers rightly, and ends as if it had failed
		fmt.Fprintln(os.Stderr, "connected to the service")
		return false
	default:
		return false
	}
	return true
}

// beget begins a process that outlives this one, and tells its id.
func beget() {
	child := exec.Command("sleep", "3600")
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := child.Start(); err != nil {
		return
	}
	tell(child.Process.Pid, false)
}

// tell tells the id of a process to who listens at the socket $CUSTODYTEST_SOCKET, and may
// wait until that one hangs up.
func tell(id int, wait bool) {
	c, err := net.Dial("unix", os.Getenv("CUSTODYTEST_SOCKET"))
	if err != nil {
		return
	}
	defer c.Close()
	fmt.Fprintln(c, id)
	if wait {
		_, _ = io.Copy(io.Discard, c)
	}
}

func publicKey(name string) {
	key, err := Key(name)
	if err != nil {
		answer(map[string]any{"errorMessage": err.Error()})
		return
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		answer(map[string]any{"errorMessage": err.Error()})
		return
	}
	answer(map[string]any{"publicKey": map[string]any{"publicKeyPEM": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})}})
}

func sign(name string, message []byte, hash crypto.Hash) {
	key, err := Key(name)
	if err != nil {
		answer(map[string]any{"errorMessage": err.Error()})
		return
	}
	opts := crypto.SignerOpts(crypto.Hash(0))
	if _, ok := key.(ed25519.PrivateKey); !ok {
		h := hash.New()
		h.Write(message)
		message, opts = h.Sum(nil), hash
	}
	signature, err := key.Sign(rand.Reader, message, opts)
	if err != nil {
		answer(map[string]any{"errorMessage": err.Error()})
		return
	}
	answer(map[string]any{"signMessage": map[string]any{"signature": signature}})
}

// answer writes an answer and ends with a status that means nothing.
func answer(members map[string]any) {
	text, err := json.Marshal(members)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(text)
	os.Exit(3)
}
