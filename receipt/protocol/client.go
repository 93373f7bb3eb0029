package protocol

import (
	"net"
	"net/http"
	"net/netip"
)

// ClientOf names who shares places and memory with others: an API key, or where none is
// needed an address. Of IPv6 it is the first half, since the second is a client's own.
func ClientOf(key *APIKey, r *http.Request) string {
	if key != nil {
		return "key " + key.Name
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return "address " + r.RemoteAddr
	}

	if ip, err := netip.ParseAddr(host); err == nil && ip.Is6() && !ip.Is4In6() {
		if half, err := ip.WithZone("").Prefix(64); err == nil {
			host = half.String()
		}
	}
	return "address " + host
}
