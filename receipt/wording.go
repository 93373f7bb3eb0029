package receipt

import (
	"fmt"
	"time"
)

func (t *tally) discounted(key *Key, code Code) string {
	id := quoted(key.ID)
	switch code {
	case CodeIssuerUnbound:
		return id + " is trusted, but for which issuer the key file does not say"
	case CodeIssuerMismatch:
		return fmt.Sprintf("%s may speak for %s, not for %s", id, quotedList(key.Issuers), quoted(excerpt(t.issuer)))
	case CodeRoleMismatch:
		return fmt.Sprintf("%s does not have the role issuer; the key file gives it: %s", id, roleList(key.Roles))
	}
	return timeText(key, code, t.at)
}

// timeText words what untimely found.
func timeText(key *Key, code Code, at time.Time) string {
	id := quoted(key.ID)
	switch {
	case code == CodeKeyNotYetValid:
		return fmt.Sprintf("%s is valid from %s on, judged at %s", id, At(key.NotBefore), At(at))
	case code == CodeKeyExpired:
		return fmt.Sprintf("%s was valid before %s, judged at %s", id, At(key.NotAfter), At(at))
	case key.Revoked.Reason == ReasonSuperseded:
		return fmt.Sprintf("%s was superseded at %s, judged at %s", id, At(key.Revoked.At), At(at))
	}
	reason := key.Revoked.Reason
	if reason == "" {
		reason = "no reason given"
	}
	return fmt.Sprintf("%s was revoked at %s (%s): none of its signatures count", id, At(key.Revoked.At), excerpt([]byte(reason)))
}

// algorithmName avoids a copy of the common names.
func algorithmName(name []byte) string {
	switch string(name) {
	case "ed25519":
		return "ed25519"
	case "EdDSA":
		return "EdDSA"
	case "ES256":
		return "ES256"
	}
	return excerpt(name)
}

func quoted(s string) string { return fmt.Sprintf("%+q", s) }

func quotedList(list []string) string {
	if len(list) == 0 {
		return "the issuer that is asked for"
	}
	const most = 3
	text := quoted(list[0])
	for _, s := range list[1:min(len(list), most)] {
		text += ", " + quoted(s)
	}
	if more := len(list) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func roleList(roles []Role) string {
	if len(roles) == 0 {
		return string(RoleIssuer)
	}
	text := string(roles[0])
	for _, r := range roles[1:] {
		text += ", " + string(r)
	}
	return text
}
