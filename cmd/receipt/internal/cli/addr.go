package cli

import (
	"net"
	"net/netip"
	"strconv"
)

// CheckAddr validates an address and reports whether it is a loopback address. It accepts no host
// names except localhost, because resolving them would require a network request.
func CheckAddr(addr string) (loopback bool, err error) {
	host, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return false, Usage("such as 127.0.0.1:8080, [::1]:8080, or 0.0.0.0:8080 for all interfaces", "invalid --addr %q: must be IP:PORT with a port up to 65535", addr)
	}

	if host == "localhost" {
		return true, nil
	}
	if host == "" { // all interfaces
		return false, nil
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false, Usage("such as 127.0.0.1:8080, [::1]:8080, or 0.0.0.0:8080 for all interfaces", "invalid --addr %q: must have an IP address or localhost", host)
	}

	return ip.IsLoopback(), nil
}
