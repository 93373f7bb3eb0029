package event

import "testing"

func TestHostOf(t *testing.T) {
	for at, want := range map[string]string{
		"https://api.example.com/v1?key=s#f": "api.example.com", "api.example.com": "api.example.com", "api.example.com:8443": "api.example.com",
		"https://user:p@ss@host.example:1/": "host.example", "http://[2001:db8::1]:80/": "[2001:db8::1]", "2001:db8::1": "2001:db8::1",
		"postgres://db.example?password=x": "db.example", "HTTPS://EXAMPLE": "example", "user:p%40ss@host.example": "host.example", "//host.example/x": "host.example",
		"": noHost, "https://": noHost, "a b": noHost, `https:\\evil`: noHost, "https:/evil": noHost, `http://good\@evil/`: noHost, "http://good\t.example/": noHost, "http://good:80x/": noHost, "http://good。example/": noHost, "http://a%2eb/": noHost,
	} {
		if got, clear := HostOf(at); got != want || clear != (want != noHost) {
			t.Errorf("hostOf(%q) = %q, want %q", at, got, want)
		}
	}
}
