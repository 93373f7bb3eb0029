package secret

import "strings"

// A value is either quoted, with escaped quotation marks if it is inside another string, or bare. A
// bare value ends at a terminator. Only quoted values may contain spaces.
const (
	quoted = `\\*"([^"\\\n]{4,})\\*"|\\*'([^'\\\n]{4,})\\*'|\x60([^\x60\n]{4,})\x60|&quot;([^&\n]{4,})&quot;`
	plain  = `[^\s"'\\,;&<>(){}\[\]\x60$%*|]`
	marked = plain + `*(?:[0-9!@#?^~+=/_.-]|(?-i:[A-Z][a-z]{1,2}[A-Z]))` + plain + `*` // more than a word

	// These patterns match the end of the name, an optional type, and the assignment.
	closes = `(?:["'\\\])]*|&quot;)[ \t]*`
	typing = `(?::[ \t]*(?:&?str|[Ss]tring|Optional\[str\]|Text)[ \t]*|[ \t](?:string)[ \t]+)?`
	equals = `(?:[?:|]{0,2}=>?|:|：)[ \t]*(?:[|>][-+]?[ \t]*\r?\n[ \t]+)?`

	// longPassword matches words for password that may be part of a longer name; shortPassword
	// matches words that must be separate.
	longPassword   = `(?:passw(?:or)?d|passphrase|passwort|kennwort|passcode|contrase(?:ñ|n)a|mot[ _-]de[ _-]passe|wachtwoord|parola|heslo)`
	joinedPassword = `(?:^|[^A-Za-z])(?:db|my|user|admin|root|smtp|mail|ftp|sql|mysql|pg|pgsql|ldap|http|proxy|auth|login|wifi|wpa|ssh|rpc|redis|mongo|imap|key|store|sudo|become|bind)(?:pass|pwd?)`
	shortPassword  = `(?:(?:^|[^A-Za-z])(?:pass|pw|pwd|psw|pswd|psk|senha)|(?-i:[a-z](?:Pass|Pw|PW|Pwd|PWD|Psk)))`
)

// passwords returns detectors for values that are recognized by the name to which they are
// assigned. The values may have any form other than prose, code, and placeholders.
func passwords() []Detector {
	stop := placeholders()
	allowed := []Allowance{{Patterns: append(references(), noPassword()...)}, {Target: TargetWord, Patterns: []string{otherMeaning, workDir}}}
	const value = `(?:[fFrRbBuUN@$]?(?:` + quoted + `)|(` + marked + `)` + valueEnd + `)`
	return []Detector{
		{Name: "password", Group: FirstGroup, Entropy: 2, StopWords: stop, Allowed: allowed,
			Pattern: `(?i)` + longPassword + `[\w.-]{0,16}` + closes + typing + equals + value, Allow: []string{`^.{1,4}$`}},
		{Name: "password_foreign", Group: FirstGroup, Entropy: 2, StopWords: stop, Allowed: allowed, Keywords: []string{"ароль", "密码", "密碼", "パスワード", "비밀번호", "asło", "senord"},
			Pattern: `(?:[пП]ароль|密码|密碼|パスワード|비밀번호|[hH]asło|[lL]ösenord)` + closes + equals + value, Allow: []string{`^.{1,4}$`}},
		{Name: "password_short", Group: FirstGroup, Entropy: 2, StopWords: stop,
			Pattern: `(?i)` + shortPassword + `[0-9]{0,2}(?:_[a-z]{1,12})?` + closes + typing + equals + value,
			Allowed: append([]Allowance{{Patterns: []string{`^[_-]*(?:(?:[A-Z]?[a-z]{2,}|[A-Z]{2,}|[a-z])[_-]*)+[,.:;]?$`, `^[0-9.,:/%xX-]+[a-z%]{0,3}$`, `^.{1,4}$`, `^/\w`, ` .* .* .* `}}}, allowed...)},
		{Name: "password_joined", Group: FirstGroup, Entropy: 2, StopWords: stop,
			Pattern: `(?i)` + joinedPassword + `[0-9]{0,2}(?:_[a-z]{1,12})?` + closes + typing + equals + value,
			Allowed: append([]Allowance{{Patterns: []string{`^[_-]*(?:(?:[A-Z]?[a-z]{2,}|[A-Z]{2,}|[a-z])[_-]*)+[,.:;]?$`, `^[0-9.,:/%xX-]+[a-z%]{0,3}$`, `^.{1,4}$`, `^/\w`, ` .* .* .* `}}}, allowed...)},

		// A word is treated as a password only where a value must follow.
		{Name: "password_variable", Group: 1, Entropy: 2, StopWords: stop, Allowed: allowed,
			Pattern: `(?:^|[^a-z])(?:PASS(?:W(?:OR)?D|PHRASE|CODE)?|PWD?)(?:_[A-Z0-9]{1,16}){0,2}=["']?([A-Za-z_.-]{6,})["']?(?:[\s;&|]|$)`},

		// In a settings file, the value extends to the end of the line and may contain any
		// character.
		{Name: "password_line", Group: 1, Entropy: 2, StopWords: stop,
			Pattern: `(?im)^[ \t+>-]{0,20}(?:(?:export|setx?|setenv|env|arg)[ \t]{1,4})?["']?[\w.-]{0,40}(?:passw(?:or)?d|passphrase|_pass|_pwd?)(?:[_.-][\w.-]{1,16})?["']?[ \t]*(?:=|:[ \t]|:=|[ \t])[ \t]*([^\s"'\x60]{5,})[ \t]*\r?$`,
			Allowed: append([]Allowance{{Patterns: []string{`^[A-Za-z_.-]+[,.:;]?$`, `^[0-9.,:]+$`, `[,;{(\[\]]$`, `\]:$`, `^\[`, `^(?:string|String|str)\b`}}}, allowed...)},
		{Name: "password_argument", Group: 1, Entropy: 2, StopWords: stop, Allowed: allowed,
			Pattern: `(?i)(?:passw(?:or)?d|passphrase|[_.-](?:pass|pwd?)|\bpwd?)\\*["'],[ \t]*\\*["']([^"'\n\\]{6,})\\*["']`,
			Allow:   []string{words, plainName}},
		{Name: "password_element", Group: FirstGroup, Entropy: 2, StopWords: stop, Allowed: allowed,
			Pattern: `(?i)<[\w:.-]{0,40}(?:passw(?:or)?d|passphrase|pwd)(?:[ \t][^<>\n]{0,200})?>[ \t]*(?:<!\[CDATA\[)?([^<>\n]{5,})(?:\]\]>)?[ \t]*</|&lt;[\w:.-]{0,40}(?:passw(?:or)?d|passphrase|pwd)&gt;([^&\n]{4,})&lt;`,
			Allow:   []string{words}},
		{Name: "password_attribute", Group: 1, Entropy: 2, StopWords: stop, Allowed: append([]Allowance{{Target: TargetMatch, Patterns: []string{`(?i)csrf|xsrf|authenticity`}}}, allowed...),
			Pattern: `(?i)(?:name|key|id)=["'][\w.:-]{0,60}(?:passw(?:or)?d|passphrase|[_.:-]?pwd?|[_.:-]pass|secret|token|api[_.-]?key|private[_.-]?key|access[_.-]?key)["'](?:\s+value=["']|>)([^"'<>\n]{5,})["'<]`},
		{Name: "password_told", Group: FirstGroup, Entropy: 2, StopWords: stop, Allowed: allowed,
			Pattern: `(?i)\b(?:password|passphrase|passwort|kennwort|passwd|passcode|pw)(?:[ \t](?:for|of|für)[ \t](?:the[ \t]|my[ \t]|your[ \t]|our[ \t])?[^\s:]+)?["']?(?:[ \t](?:is|was|to|are|ist|lautet|set to)(?:[ \t](?:set to|now|jetzt))?:?|:|[ \t]\(?=)?[ \t]+` +
				`(?:["'\x60]([^"'\x60\n]{5,})["'\x60]|[(\x60]?([^\s"'\x60<>()]*[0-9][^\s"'\x60<>()]*))`,
			Allow: []string{`^[A-Za-z]{0,3}[0-9]{0,4}$`, plainName, `^[0-9.,:;!%+/-]*[a-z]{0,12}[.,:;]?$`, `^.{1,5}$`, `^[(<\[{*-]`, `\w\(`, `\]:?$`, `=$`, `^[A-Za-z]+=`, `^\w+://`, `^/`}},
		{Name: "nuget_password", Group: 1, Entropy: 1.5, Pattern: `(?i)<add key="(?:ClearText)?Password"\s*value="([^"\n]{6,200})"`, Allow: []string{`^%.*%$`, `^\$\{?\w+\}?$`}},

		// A wallet can be restored from twelve or more such words (BIP 39).
		{Name: "mnemonic", Group: 1, Entropy: 3, Pattern: `(?i)(?:mnemonic|seed[ _-]?phrase|recovery[ _-]?phrase|secret[ _-]?phrase)[\w]{0,12}` + closes + `(?:is[ \t]|[=:]{1,2})[ \t]*["'\\]{0,3}((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})\b`},
	}
}

// references returns patterns for text that refers to a value elsewhere, such as a variable, a
// template, a parameter of a statement, or an expression in a program.
func references() []string {
	const name = `(?:_*(?:[A-Z]?[a-z]+|[A-Z]+))+_*[0-9]?`
	return []string{
		`^\$+(?:\{?\w+|\{[^}]*\}|\{\{.*|\(.*|env:\w+|\w+(?:->|\[|\.).*)$`, `^\$\(`, `^\{\{`, `^\{[\w.:!-]*\}$`, `^%\w+%$`, `^%\(?\w*\)?s?%?$`, `^[^ -~]*\w*%$`, `^%\{.*\}$`, `^[#@]\{`, `^@@`, `^<[^<>]*>$`, `^\[[A-Za-z_ -]*\]$`, `^[?:@]\w*$`, `^:'\w+'$`,
		`^!(?:[A-Z][A-Za-z]+|vault|env\w*|secret|reference)\b`, `^[&*]` + name + `$`,
		`^(?:` + name + `(?:\.|::|->))+` + name + `[!?]?$`,             // a member of something
		`^` + name + `(?:(?:\.|::|->)` + name + `)*\([^()]*(?:\).*)?$`, // a call
		`^(?:` + name + `(?:\.|::|->)?)+\[["'\w.$-]*(?:\]\w*)?$`,       // an element
		`^(?:[a-z]+_){1,3}(?:password|passwd|pw|pwd|secret|token)$`, `^ENC\[`, `^(?:env|file|fd|vault|ref|secret|arn|op|ssm|awssm|gcp|sops|kms|keyring):`,
		`^[\s,;)\]]`, `^[+.&|] ?[\w.()\[\]]+ ?[+.&|]$`, `^[.+&|(){}=!?:\[\]]+$`, `[\s,;(){\[]$`, // what stands between two strings
	}
}

// noPassword returns patterns for text that people write in place of a password, such as a word for
// password, or prose.
func noPassword() []string {
	return []string{
		`(?i)^(?:new-|current-|old-|my_?|your_?|the_?|db_?|user_?|admin_?)?(?:passw(?:or)?d|passphrase|pass|pw|pwd|secret|token|string|text|str|char|varchar|bytes|hidden|required|optional|none|null|nil|undefined|true|false|empty|unset|prompt|value|username|user|input|field|label|hash|plain|plaintext|disabled|enabled|default|unknown|invalid|missing|object|number|boolean|array|redacted|removed|masked|filtered)s?[0-9]?$`,
		`^[*•xX.#_-]+$`, `^.{1,3}$`, `^.{200}`, `^=+[\w.]*$`,
		`(?i)(?:^|\s)(?:must|is|are|was|the|your|be|not|at|required|invalid|enter|please|for|of|to|and|with|should|or|an|this|that|in|on|has|have|from|it|you|field|characters?|password|again|here|only|no|if|can|cannot|may|too|less|more|than|optional|incorrect|wrong|reset|change|forgot|expired|mismatch|error|der|die|das|ein|eine|ist|le|la|les|est|el)(?:\s|[.,:!?]*$)`,
		`^[^0-9\s]+ [^0-9\s]+[.!?]*$`, `^[^\s]+ [(<\[{=-]`,
	}
}

// otherMeaning matches names that contain a word for password but do not denote a password, such as
// the location of a password, a rule for passwords, or an action on a password.
const otherMeaning = `(?i)^[\w.-]*?(?:passw(?:or)?d|passphrase|passwort|passcode|pass|pw|pwd)s?[_.-]?(?:` +
	`file|path|url|uri|link|reset|forgot|recover|polic|hash|hint|min|max|length|len|size|count|age\b|expir|valid|chang|updat|creat|encr|field|input|label|prompt|name|id\b|type|mode|manager|store(?:_|\b)|keeper|command|cmd|env|ref\b|rule|regex|pattern|require|option|enabled|disabled|less|auth|strength|score|version|rotation|ttl|placeholder|error|message|title|page|form|box|view|screen|dialog|column|attr|port|rate|through|thru|stdin|fd\b` +
	`)`

// workDir matches shell variables for the working directory.
const workDir = `(?i)^(?:old|init_?)?pwd["']?[ \t]*[=:][ \t]*["']?(?:[/~.]|[a-z]:)`

// placeholders returns stop words: text that documentation contains in place of a secret.
func placeholders() []string {
	return strings.Fields(`example placeholder changeme change_me change-me changeit your_ your- yourtoken yourapi yourkey yourpass redacted xxxxxx ...... ****** ###### 000000 aaaaaa
		abcdefghijklm 0123456789abc 1234567890abcdef dummy insert_ replace_me replaceme <your my_token my-token not-a-real notreal sample_ foobared`)
}
