package secret

// Default returns detectors for everyday use. They find the secrets that Upstream finds, except for
// placeholders and examples. They also find service tokens with a distinctive form; values assigned
// to the names of services whose tokens have no distinctive form; and random-looking values
// assigned to names such as password, token, and secret.
func Default() []Detector {
	var list []Detector
	list = append(list, protocolTokens()...)
	list = append(list, serviceTokens()...)
	list = append(list, structures()...)
	list = append(list, serviceValues()...)
	list = append(list, passwords()...)
	list = append(list, assignments()...)
	list = append(list, formats()...)
	list = append(list, contexts()...)
	return append(list, commands()...)
}

// HomePath returns a detector for the name of a person in the path of a home directory. Such a name
// is not a secret, but the readers of a receipt do not need it. The detector ignores common
// accounts on machines and in images.
func HomePath() Detector {
	return Detector{
		Name:     "home_path",
		Pattern:  `(?:^|[^A-Za-z0-9_.-])(?:/home/|/Users/|[A-Za-z]:(?:\\|[\\/])Users(?:\\|[\\/]))([^/\\\s"'<>:;,()]+)`,
		Group:    1,
		Keywords: []string{"/home/", "users"},
		Allow: []string{`^(?:Shared|Public|Default|runneradmin|ContainerAdministrator)$`,
			`^(?:admin|app|appuser|azureuser|build|builder|centos|ci|circleci|cloud|coder|codespace|debian|deploy|deployer|dev|developer|docker|ec2-user|fedora|git|gitpod|gitlab-runner|jenkins|jovyan|linuxbrew|node|nobody|nonroot|opc|postgres|python|root|runner|sandbox|service|svc|travis|ubuntu|user|username|vagrant|vscode|web|work|www|www-data)$`},
	}
}

// Parts of patterns. A token ends before the first character that is not in its alphabet. A value
// is recognized by the text between a name and the value.
const (
	hexID = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`

	assigned = `[\s'"\\\x60\])]{0,4}` + // closes the name
		`(?:[?:]{0,3}=>?|:|\|\||>|<-|,)` +
		`[\s'"\\\x60=(@]{0,6}` // opens the value

	// This stricter form is used after names that are everyday words.
	given = `["'\\\x60\])]{0,3}[ \t]*` +
		`(?:(?:[?:]{0,3}=>?|:|\|\||>|<-)[ \t]*(?:[|>]?-?\r?\n[ \t]+)?["'\\\x60(@]{0,4}|,[ \t]*["'\\\x60]{1,3})`

	valueEnd = `(?:[\s'"\\\x60;,)\]}<>&|]|$)`
)

// token returns a detector for a token with a distinctive form.
func token(name, form string, entropy float64) Detector {
	return Detector{Name: name, Pattern: `\b(` + form + `)`, Group: 1, Entropy: entropy}
}

// bounded returns a detector for a token that is not followed by a letter, a digit, _, or -.
func bounded(name, form string, entropy float64) Detector {
	d := token(name, form, entropy)
	d.Pattern += `(?:[^\w-]|$)`
	return d
}

// isolated returns a detector for a token whose form can also occur in base64 by chance. The token
// must not be adjacent to other base64 characters.
func isolated(name, form string, entropy float64) Detector {
	return Detector{Name: name, Pattern: `(?:^|[^\w+/-])(` + form + `)(?:[^\w+/=-]|$)`, Group: 1, Entropy: entropy}
}
