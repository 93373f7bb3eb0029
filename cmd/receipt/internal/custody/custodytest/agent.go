package custodytest

import (
	"net"
	"sync"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// An Agent is an ssh-agent that can be told to do something else.
type Agent struct {
	agent.ExtendedAgent
	OnList func() ([]*agent.Key, error)                        // nil: the keys that it has
	OnSign func(ssh.PublicKey, []byte) (*ssh.Signature, error) // nil: a signature
}

// NewAgent returns an agent with the keys of [Key] of these names. All have the same
// comment.
func NewAgent(names ...string) (*Agent, error) {
	a := &Agent{ExtendedAgent: agent.NewKeyring().(agent.ExtendedAgent)}
	for _, name := range names {
		key, err := Key(name)
		if err != nil {
			return nil, err
		}
		if err := a.Add(agent.AddedKey{PrivateKey: key, Comment: "work"}); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (a *Agent) List() ([]*agent.Key, error) {
	if a.OnList != nil {
		return a.OnList()
	}
	return a.ExtendedAgent.List()
}

// SignWithFlags is what both ways to sign come to.
func (a *Agent) SignWithFlags(key ssh.PublicKey, message []byte, flags agent.SignatureFlags) (*ssh.Signature, error) {
	if a.OnSign != nil {
		return a.OnSign(key, message)
	}
	return a.ExtendedAgent.SignWithFlags(key, message, flags)
}

func (a *Agent) Sign(key ssh.PublicKey, message []byte) (*ssh.Signature, error) {
	return a.SignWithFlags(key, message, 0)
}

// Serve has an agent listen on a socket, until it is closed.
func Serve(socket string, a agent.Agent) (closed func(), err error) {
	return Listen(socket, func(c net.Conn) { _ = agent.ServeAgent(a, c) })
}

// Listen has somebody answer on a socket, until it is closed.
func Listen(socket string, answer func(net.Conn)) (closed func(), err error) {
	l, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}

	var group sync.WaitGroup
	group.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			group.Go(func() {
				defer c.Close()
				answer(c)
			})
		}
	})
	return func() {
		l.Close()
		group.Wait()
	}, nil
}

// Fingerprint is how ssh-add -l names a key of [Key].
func Fingerprint(name string) (string, error) {
	key, err := Key(name)
	if err != nil {
		return "", err
	}
	public, err := ssh.NewPublicKey(key.Public())
	if err != nil {
		return "", err
	}
	return ssh.FingerprintSHA256(public), nil
}
