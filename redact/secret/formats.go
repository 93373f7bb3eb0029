package secret

// written matches a quoted value in source code or in a statement.
const written = `(?:[NEnebru]?'([^'\n]{4,})'|[NEnebru]?"([^"\\\n]{4,})"|\\+["']([^"'\\\n]{4,})\\+["'])`

// formats returns detectors for secrets that are recognized by the statement, the file, or the call
// that contains them.
func formats() []Detector {
	stop := placeholders()
	none := []Allowance{{Patterns: append(references(), noPassword()...)}}
	const (
		secretName = `[\w.:/ -]*?(?:passw(?:or)?d|passphrase|secret|token|credential|api[_. -]?key|access[_. -]?key|private[_. -]?key|(?:auth|signing|encryption|master|session|account|license|client|shared|service|storage)[_. -]?key|(?:[_.:/-]|\b|[a-z])pass|(?:[_.:/-]|\b|[a-z])pwd?|authorization|session[_-]?id|sessid|\bsid|x-[\w-]*(?:key|auth))[\w.-]*`
		nameLabel  = `["'](?:name|key|parameterkey|variable|var|header|envvar|optionname|settingname)\\*["'][ \t]*(?::|=>?)[ \t]*\\*["']`
		valueLabel = `["'](?:value|parametervalue|default|defaultvalue|content|optionvalue|current|initial)\\*["'][ \t]*(?::|=>?)[ \t]*\\*["']`
		between    = `\\*["'][ \t]*,\s*(?:\\*["']\w+\\*["'][ \t]*(?::|=>?)[ \t]*(?:\\*["'][^"'\n\\]*\\*["']|\w+)[ \t]*,\s*){0,3}\\*`
	)

	pair := func(d Detector) Detector {
		d.Group, d.Entropy, d.StopWords = FirstGroup, 2, stop
		d.Allowed = append([]Allowance{{Target: TargetMatch, Patterns: []string{otherMeaning}}, {Target: TargetMatch, Patterns: []string{`(?i)["'][ \t]*(?::|=>?)[ \t]*\\*["']` + `[\w.-]*` + notSecretPart}}}, none...)
		return d
	}

	return []Detector{
		// The name and the value are members of the same object.
		pair(Detector{Name: "named_value", Pattern: `(?i)` + nameLabel + secretName + between + valueLabel + `([^"'\\\n]{4,})\\*["']`}),
		pair(Detector{Name: "value_named", Pattern: `(?i)` + valueLabel + `([^"'\\\n]{4,})` + between + nameLabel + secretName + `\\*["']`}),
		pair(Detector{Name: "named_value_yaml", Pattern: `(?i)\b(?:name|key):[ \t]*["']?` + secretName + `["']?(?:,|[ \t]*\r?\n)[ \t]*value:[ \t]*(?:"([^"\n]{4,})"|'([^'\n]{4,})'|([^\s"'{}$&*!|>][^\s"'{},]{3,}))`}),
		{Name: "session_cookie", Group: FirstGroup, Entropy: 2.5, StopWords: stop, Allowed: none,
			Pattern: `(?i)(?:\bcookie\\*["']?\]?[ \t]*[:=,][ \t]*[\[{]?\\*["']?|[ \t](?:-b|--cookie)[ \t=]{1,3}["']?)(?:[^\n"']*?[;,][ \t]*)??[\w.-]*?(?:sess|sid|auth|token|jwt|login|remember|identity|ticket|credential|secret)[\w.-]*=([^\s;"',\\]{6,})`},
		{Name: "cookie_option", Group: 1, Entropy: 3, StopWords: stop, Allowed: none,
			Pattern: `[ \t](?:-b|--cookie)[ \t=]+["']?((?:[\w.-]+=[^\s;"']*;[ \t]*)*[\w.-]+=[^\s;"']{12,}(?:;[ \t]*[\w.-]+=[^\s;"']*)*)`},
		{Name: "header_tuple", Group: 1, Entropy: 2.5, StopWords: stop, Allowed: none,
			Pattern: `(?i)["'](?:proxy-)?authorization\\*["'](?:,|\]?[ \t]*=|:)[ \t]*[\[{(]?\\*["'](?:(?:basic|bearer|token|apikey|digest|negotiate|ntlm|key|bot|sso-key|genie-?key|[a-z]{2,16})[ \t]+)?([^"'\\\n\s]{8,})\\*["']`},
		{Name: "digest_response", Group: 1, Pattern: `(?i)\bdigest[ \t][^\n]*?\bresponse=\\*"?([0-9a-f]{32,64})\b`},
		{Name: "request_signature", Group: 1, Pattern: `(?i)\b(?:aws4-hmac-sha256|hmac|hawk)[ \t][^\n]*?(?:signature|mac)=\\*"?([A-Za-z0-9+/]{27,}={0,2})`},
		{Name: "query_secret", Group: 1, Entropy: 3, StopWords: stop, Allow: []string{words, identifier, camel, numbered},
			Pattern: `(?i)[?&](?:[\w.-]{0,30}(?:token|secret|signature|api[_-]?key|access[_-]?key|jwt)|key|sig|sid|auth|code|hmac|otp|session(?:[_-]?id)?|passw(?:or)?d|pwd|pass)=([^&\s"'#<>;\\]{8,})`},

		{Name: "sql_password", Group: FirstGroup, Entropy: 1.5, StopWords: stop, Allowed: none,
			Pattern: `(?i)\bidentified\s+(?:(?:with|via)\s+["'\x60]?\w+["'\x60]?\s+)?(?:by|as|using)\s+(?:password\s*|values\s*)?\(?\s*` + written},
		{Name: "sql_password_bare", Group: 1, Entropy: 1.5, StopWords: stop, Allowed: none,
			Pattern: `(?i)\b(?:user|role|to)\s+[\w"'@%.-]+\s+identified\s+by\s+([\w#$!]{4,})`},
		{Name: "sql_password_clause", Group: FirstGroup, Entropy: 1.5, StopWords: stop, Allowed: none,
			Pattern: `(?i)\b(?:password|passphrase|secret|old_password)\s+(?:=\s*)?` + written, Allow: []string{words}},
		{Name: "sql_password_call", Group: FirstGroup, Entropy: 1.5, StopWords: stop, Allowed: none,
			Pattern: `(?i)\bset\s+password(?:\s+for\s+[^\s=]+)?\s*=\s*(?:\w+\s*\(\s*)?` + written},
		{Name: "pragma_key", Group: FirstGroup, Entropy: 1.5, StopWords: stop, Allowed: none, Pattern: `(?i)\bpragma\s+(?:re|hex|hexre)?key\s*=\s*` + written},

		// Stored password hashes are included, because they can be cracked offline.
		token("password_hash", `\$2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}|\$(?:1|5|6|7|y|gy|apr1|md5|sha1|argon2(?:id|i|d)|scrypt|pbkdf2|pbkdf2-sha1|pbkdf2-sha256|pbkdf2-sha512|P|H|S)\$[\w./,=+-]+(?:\$[\w./,=+-]{2,})+`, 0).unbound(),
		token("password_hash_named", `(?:pbkdf2_sha(?:1|256|512)|bcrypt(?:_sha256)?|argon2|scrypt)\$[\w$./,=+-]{40,}|(?:pbkdf2:sha(?:1|256|512)(?::\d+)?|scrypt:\d+:\d+:\d+)\$[\w./-]+\$[0-9a-f]{40,}|SCRAM-SHA-(?:1|256|512)\$\d+:[A-Za-z0-9+/=]+\$[A-Za-z0-9+/=]+:[A-Za-z0-9+/=]+`, 0),
		{Name: "password_hash_scheme", Group: 1, Pattern: `(?i)(\{(?:S?SHA(?:256|384|512)?|S?MD5|CRYPT|PBKDF2(?:-\w+)?|ARGON2)\}[\w$./+=,-]{12,})`},
		{Name: "password_hash_mysql", Group: 1, Pattern: `['"](\*[0-9A-Fa-f]{40})['"]`},
		{Name: "password_hash_windows", Group: 1, Pattern: `(?m)^[\w.$@\\-]{1,60}:\d{1,10}:([0-9a-fA-F]{32}:[0-9a-fA-F]{32}):::`},

		{Name: "pgpass", Group: 1, Entropy: 2, StopWords: stop, Allow: []string{words}, Allowed: none,
			Pattern: `(?m)^(?:[\w.-]{1,60}|\*):[1-9*]\d{0,4}:(?:[A-Za-z_][\w-]*|\*):[A-Za-z_][\w.@-]*:([^\s:]{5,})[ \t]*\r?$`},
		{Name: "data_source_password", Group: 1, Entropy: 1.5, StopWords: stop, Allowed: none, Pattern: `[\w.$-]{1,40}:([^\s"'/:]{4,60})@(?:tcp|unix|udp)\(`},
		{Name: "mail_password", Group: 1, Entropy: 2, StopWords: stop, Allowed: none, Pattern: `(?m)^\[\w[\w.-]{1,60}\](?::\w{2,12})?[ \t]+[\w.+-]+(?:@[\w.-]+)?:([^\s:]{6,})[ \t]*\r?$`},
		{Name: "login_file_password", Group: FirstGroup, Entropy: 2, StopWords: stop, Allowed: none,
			Pattern: `(?m)\b(?:login|user|username)[ \t]+\S+\s+password[ \t]+(?:"([^"\n]{4,})"|([^\s"]{4,}))[ \t]*\r?$`},
		{Name: "store_password", Group: 1, Entropy: 2, StopWords: stop, Allowed: none, Pattern: `\b(?:storePassword|keyPassword|keystorePassword|password|passphrase)[ \t(]{1,3}["']([^"'\n\\]{5,})["']`},
		{Name: "device_password", Group: 1, Entropy: 1.5, StopWords: stop, Allowed: none,
			Pattern: `(?im)\b(?:enable[ \t]+(?:secret|password)|username[ \t]+\S+(?:[ \t]+privilege[ \t]+\d{1,2})?[ \t]+(?:secret|password)|snmp-server[ \t]+community|(?:tacacs|radius)-server[ \t]+(?:host[ \t]+\S+[ \t]+)?key|crypto[ \t]+isakmp[ \t]+key|pre-shared-key(?:[ \t]+ascii-text|[ \t]+hexadecimal)?|wpa-psk[ \t]+ascii)[ \t]+(?:[0-9][ \t]+)?["']?([^\s"']{6,})["']?`},
		{Name: "ipsec_secret", Group: 1, Entropy: 2, StopWords: stop, Allowed: none, Pattern: `:[ \t]{0,4}(?:PSK|XAUTH|EAP|NTLM)[ \t]+"([^"\n]{5,})"`},
		{Name: "ldif_password", Group: 1, Entropy: 1.5, StopWords: stop, Allowed: none, Pattern: `(?im)\b(?:userPassword|olcRootPW|unicodePwd|sambaNTPassword|rootpw):{1,2}[ \t]*([^\s{][^\s]{5,})`},
		{Name: "defined_secret", Group: FirstGroup, Entropy: 2.5, StopWords: stop, Allowed: none,
			Pattern: `(?i)\bdefine\([ \t]*["']\w*(?:_key|_salt|_secret|_token|_pass|password)["'][ \t]*,[ \t]*(?:'([^'\n]{6,})'|"([^"\n]{6,})")`},
		{Name: "set_secret_call", Group: FirstGroup, Entropy: 2.5, StopWords: stop, Allowed: none,
			Pattern: `(?i)(?:setenv|setdefault|setproperty|putenv|fetch|getenv|get|env|set|put|add|header|addheader|withheader|setheader|setrequestheader|append|property)\(?\[?[ \t]*["'][\w.:-]*(?:passw(?:or)?d|passphrase|secret|token|api[_.-]?key|access[_.-]?key|private[_.-]?key|secret[_.-]?key|auth[_.-]?key|[_.-]pass|[_.-]pwd?)["'][ \t]*\]?,?[ \t]*=?[ \t]*["']([^"'\n]{6,})["']`, Allow: []string{words, plainName}},
		{Name: "variable_default", Group: 1, Entropy: 2, StopWords: stop, Allowed: none,
			Pattern: `(?i)\bvariable\s+"[\w-]*(?:passw(?:or)?d|passphrase|_pass|_pwd?|secret|token|api_?key|access_?key|private_?key)[\w-]*"\s*\{[^{}]*\bdefault\s*=\s*"([^"\n]{5,})"`},
		{Name: "set_password_call", Group: 1, Entropy: 2, StopWords: stop, Allowed: none,
			Pattern: `(?i)(?:set|with|\.)_?(?:user|db|admin)?(?:password|passphrase|passwd|pwd)\([ \t]*["']([^"'\n]{5,})["']`, Allow: []string{words, `^[\w.+-]+@[\w-]+\.[\w.-]+$`}},
		{Name: "login_call", Group: 1, Entropy: 2.2, StopWords: stop, Allowed: none,
			Pattern: `(?i)(?:\blogin|\bsign_?in|\bauthenticate|basic_?auth(?:entication)?|networkcredential|passwordauthentication|usernamepasswordcredentials|pscredential|plainauth|digestauth|getconnection|auth[ \t]*[:=][ \t]*|\bcredentials?|usernamepassword|mysqli_connect|mysql_connect|pg_connect|new[ \t]pdo|oci_connect|ldap_bind|ftp_login|ssh2_auth_password)[\[(][^()\n"']*(?:["'][^"'\n]*["'][ \t]*,[ \t]*){1,3}?["']([^"'\n\\]{5,})["']`, Allow: []string{words, identifier, `^[\w.-]+\.[a-z]{2,}$`}},
		{Name: "secret_argument", Group: 1, Entropy: 3, StopWords: stop, Allowed: none, Allow: []string{words, identifier, camel, `^[^0-9]*$`},
			Pattern: `(?i)\b(?:jwt\.(?:sign|encode|verify|decode)|hmac\.new|createhmac|SecretStr|SecureString|SecretString|Sensitive|(?-i:Secret))\(?[ \t]*(?:[\w.{}:]+[ \t]*,[ \t]*|["'][^"'\n]*["'][ \t]*,[ \t]*)?b?["']([^"'\n]{8,})["']`},
		{Name: "defined_macro", Group: 1, Entropy: 2, StopWords: stop, Allowed: none,
			Pattern: `#define[ \t]+\w*(?:PASS|PASSWORD|PWD|PSK|SECRET|TOKEN|APIKEY|API_KEY|PRIVATE_KEY)\w*[ \t]+"([^"\n]{5,})"`},
		{Name: "sql_login", Group: 1, Entropy: 1.5, StopWords: stop, Allowed: none, Pattern: `(?i)\bsp_(?:addlogin|password)\s+N?'[^'\n]*'\s*,\s*N?'([^'\n]{4,})'`},
		{Name: "presigned", Group: 1, Pattern: `(?i)\bx-(?:amz|goog|oss|cos)-signature[=:][ \t]*([0-9a-f]{40,})\b`},
		{Name: "shared_secret", Group: 1, Entropy: 3, StopWords: stop, Allow: []string{words, identifier, camel}, Pattern: `(?i)\bsecret[ \t]+"?([A-Za-z0-9+/=]{16,})"?;`},
		{Name: "secure_string", Group: FirstGroup, Entropy: 2, StopWords: stop, Allowed: none,
			Pattern: `(?i)\bconvertto-securestring[ \t]+(?:-string[ \t]+)?(?:"([^"\n]{4,})"|'([^'\n]{4,})'|([^\s"'$(-][^\s"']{3,}))`},
		{Name: "kubernetes_secret_json", Group: 1, Pattern: `(?i)"kind"\s*:\s*"secret"[^{}]*(?:\{[^{}]*\}[^{}]*){0,4}"(?:string)?data"\s*:\s*\{([^{}]{6,})\}`},
		{Name: "kubernetes_secret_json_data", Group: 1, Pattern: `(?i)"(?:string)?data"\s*:\s*\{([^{}]{6,})\}[^{}]*(?:\{[^{}]*\}[^{}]*){0,4}"kind"\s*:\s*"secret"`},
		{Name: "kubernetes_secret_text", Group: 1, Pattern: `(?i)kind:[ \t]*["']?secret["']?[ \t]*\r?\n(?:[^\n]*\n){0,20}?stringData:[ \t]*\r?\n((?:[ \t]+[^\n]*(?:\n|$))+)`},
		{Name: "kubernetes_secret_text_before", Group: 1, Pattern: `(?i)stringData:[ \t]*\r?\n((?:[ \t]+[^\n]*\n)+)(?:[^\n]*\n){0,20}?kind:[ \t]*["']?secret\b`},
		{Name: "kubernetes_secret_entry", Group: 1, Pattern: `(?i)kind:[ \t]*["']?secret["']?[ \t]*\r?\n(?:[^\n]*\n){0,20}?data:[ \t]*\r?\n[ \t]+[\w.-]+:[ \t]*["']?([A-Za-z0-9+/]{8,}={0,2})["']?[ \t]*(?:\r?\n|$)`},
		{Name: "storage_key", Group: 1, Entropy: 4, Pattern: `(?i)key[0-9]?["'\\]{0,3}[ \t]*[:=][ \t]*["'\\]{0,3}([A-Za-z0-9+/]{86}==)`},
		{Name: "credentials_told", Group: 1, Entropy: 2, StopWords: stop, Allowed: none, Pattern: `(?i)\b(?:credentials?|creds|login)[ \t:=]+[\w.-]+:([^\s"'@/:]{5,})@[\w-]`},
		{Name: "secret_told", Group: 1, Entropy: 3.3, StopWords: stop, Allow: []string{words, identifier, camel, numbered, `^[^0-9]*$`, `\.\.$`},
			Pattern: `(?i)\b(?:token|secret|api[ _-]?key|access[ _-]?key|secret[ _-]?key|credentials?|key)(?:[ \t](?:for|of|to)[ \t][^\s:]+)?(?:[ \t](?:is|was|=)(?:[ \t]now)?:?|:)[ \t]+["'\x60(]?([\w+/.=~-]{16,})`},
		{Name: "wireguard_key", Group: 1, Entropy: 3.5, Pattern: `(?i)\b(?:private_?key|preshared_?key)[ \t"']{0,4}[=:][ \t"']{0,4}([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)`},
	}
}

// plainName matches an ordinary name that contains few digits.
const plainName = `^[A-Za-z][A-Za-z_.:/-]*[0-9]?$`

// notSecretPart matches parts of a name which show that the name does not denote a secret.
const notSecretPart = `(?:_?count|_?limit|_?type|_?name|_?url|_?uri|_?endpoint|_?file|_?path|_?ttl|expir\w*|_?version|_?arn|[_-]id|key_?id)\\*["']`
