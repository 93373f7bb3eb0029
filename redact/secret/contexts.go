package secret

import "strings"

// contexts returns detectors for secrets that are recognized by their context: a table, a protocol
// dialogue, a form, or a sentence.
func contexts() []Detector {
	stop := placeholders()
	noValue := []string{words, plainName, `^[0-9.,:;!%+/-]*[a-z]{0,12}[.,:;]?$`, `^.{1,4}$`, `\w\(`, `^\w+://`, `^\w:[0-9]`}
	none := []Allowance{{Patterns: append(append(references(), noPassword()...), noValue...)}, {Target: TargetWord, Patterns: []string{otherMeaning}}, {Target: TargetMatch, Patterns: []string{`(?i)csrf|xsrf|authenticity`}}}
	const (
		// mixed matches text that contains a digit but is not a number, a path, or an address.
		mixed = `[^\s"'\x60<>|,;/]*[0-9][^\s"'\x60<>|,;]*`
		code  = `[0-9]{4,8}`
	)

	var list []Detector
	for _, c := range []struct{ name, pattern string }{
		// The value is on the line below its name.
		{"password_below", `(?i)` + longPassword + `["']?[ \t]*[:=][ \t]*\\?\r?\n[ \t]*["']?(` + mixed + `)["']?[ \t]*(?:\r?\n|$)`},
		{"password_below_colon", `(?i)` + longPassword + `["'][ \t]*\r?\n?[ \t]*:[ \t]*\r?\n[ \t]*["'](` + mixed + `)["']`},
		{"password_fallback", `(?i)(?:passw(?:or)?d|passphrase|secret|token|api_?key|access_?key)\w{0,16}["']?[ \t]*(?::=|=>|[=:])[ \t]*[^\n"'\x60;,]{1,60}(?:\|\||\?\?|\bor\b|\?:)[ \t]*["']([^"'\n]{6,})["']`},
		{"password_getter", `(?i)(?:passw(?:or)?d|passphrase|secret|token|api_?key|access_?key)["'](?:,|\)[ \t]*\{)[ \t]*["']([^"'\n]{6,})["'][ \t]*[)}]`},
		{"password_arrow", `(?i)` + longPassword + `["']?[ \t]*[~-]>[ \t]*["']?(` + mixed + `)`},
		{"password_compared", `(?i)(?:passw(?:or)?d|passphrase|secret|token|api_?key)[\w.]{0,20}\)?(?:[ \t]*[!=]==?[ \t]*|\.equals\w{0,20}\(|,[ \t]*|\)?\.(?:to|should)\w{1,12}\()["']([^"'\s]*[0-9][^"'\s]*)["']`},
		{"key_bytes", `(?i)(?:key|secret)["']?[ \t]*[:=]{1,2}[ \t]*(?:[\w.]*(?:fromhex|unhexlify|from_hex|hextobytes|decodestring|b64decode|base64_decode|urlsafe_b64decode)\(b?["']([\w+/=-]{32,})|b["']([\w+/=-]{32,}))`},
		{"account_pair", `(?i)(?:wifi\.begin\(|credentials?\{|basicauth\{|userinfo\{|login\{)[ \t]*\\?["'][^"'\n]*["'],[ \t]*\\?["']([^"'\n\\]{5,})`},
		{"setting_updated", `(?i)\bset[ \t]+\w+[ \t]*=[ \t]*'([^'\n]{5,})'[ \t]+where[ \t]+\w+[ \t]*=[ \t]*'[\w.-]*(?:passw(?:or)?d|passphrase|secret|token|api_?key|_pwd?)[\w.-]*'`},
		{"setting_inserted", `(?i)\bvalues[ \t]*\([ \t]*(?:[0-9]+,[ \t]*)?'[\w.-]*(?:passw(?:or)?d|passphrase|secret|token|api_?key|_pwd?)[\w.-]*'[ \t]*,[ \t]*'([^'\n]{5,})'`},
		{"pgpass_entry", `:5432:[\w.*-]+:[\w.-]+:([^\s:'"]{5,})`},
		{"docker_config", `(?i)dockerconfigjson["']?[ \t]*[:=][ \t]*["']?([A-Za-z0-9+/]{20,}={0,2})`},
		{"pap_secret", `(?m)^[ \t]*"?[\w.@\\-]+"?[ \t]+\*[ \t]+"([^"\n]{5,})"(?:[ \t]+\*)?`},
		{"uci_key", `(?:^|\s)(?:option[ \t]+key|set[ \t]+wireless\.[^\s=]*\.key=|set[ \t]+wifi\.[^\s=]*\.key=)[ \t]*["']([^"'\n]{8,})["']`},
		{"lisp_password", `(?i)(?:password|passphrase|secret|token|api-key)[ \t]+\.?[ \t]*\\?"([^"\\\n]{5,})\\?"[ \t]*\)`},

		// The value is in a table row with two cells, or in a column with a heading.
		{"table_row", `(?i)\|[ \t]{1,8}[*\x60]{0,2}[\w. -]{0,40}(?:passw(?:or)?d|passphrase|secret|token|api[ _-]?key|access[ _-]?key|_pass|_pwd?)\w{0,12}[*\x60]{0,2}[ \t]{1,40}\|(?:[ \t]*\w+[ \t]*\|)??[ \t]{1,8}[*\x60]{0,2}([^\s|\x60*]{6,})[*\x60]{0,2}[ \t]{1,80}\|`},
		{"key_element", `(?i)<key>[^<\n]{0,60}(?:passw(?:or)?d|passphrase|secret|token|api[ _-]?key)[^<\n]{0,12}</key>\s{0,40}<string>([^<\n]{5,})</string>`},
		{"setting_element", `(?i)["'][\w.:-]{0,60}(?:passw(?:or)?d|passphrase|secret|token|api[ _-]?key|connectionstring)["'][^<>\n]{0,60}>\s{0,40}<value>([^<\n]{5,})</value>`},
		{"secret_element", `(?i)<[\w.:-]{0,40}(?:secret|token|api[_-]?key|credential|pass)>[ \t]*([^<>\n]{8,})[ \t]*</`},
		{"form_part", `(?i)name="[\w.\[\]-]{0,40}(?:passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key)\w{0,8}"(?:\\r|\\n|\s){2,8}([^\s\\]{5,})`},
		{"inline_pair", `(?i)\bname[ \t]*=[ \t]*\\?["'][\w./-]{0,60}(?:passw(?:or)?d|passphrase|secret|token|api_?key|access_?key|_pass|_pwd?)\w{0,12}\\?["'],?\s{0,40}(?:type[ \t]*=[ \t]*\\?["']?\w+\\?["']?,?\s{0,40})?value[ \t]*=[ \t]*\\?["']([^"'\\\n]{5,})`},
		{"declared_default", `(?i)(?:passw(?:or)?d|passphrase|secret|token|api_?key)["']?[ \t][^\n"'\[\]]{0,60}\bdefault[ \t]*[=:][ \t]*["']?([^\s"'\[\]]{6,})`},

		// Build server logs.
		{"pipeline_secret", `##vso\[task\.setvariable[^\]\n]*issecret=true[^\]\n]*\]([^\s"']{4,})`},
		{"masked_value", `::add-mask::([\w+/=.~@!#-]{4,})`},
		{"pipeline_output", `(?i)::(?:set-output|save-state|set-env)[ \t]name=[\w-]*(?:passw(?:or)?d|secret|token|key)[\w-]*::([^\s"']{6,})`},
		{"pipeline_variable", `(?i)(?:task\.setvariable variable=|setparameter name=')[\w.-]*(?:passw(?:or)?d|secret|token|apikey|pwd)[^\]\n]{0,40}[\]'](?:[ \t]value=')?([^\s"']{5,})`},

		// Dialogues of protocols.
		{"pass_command", `\bUSER[ \t]+[^\s]+(?:[ \t]*\r?\n[^\n]{0,120}){0,2}\r?\n[^\n]{0,20}?\bPASS[ \t]+([^\s]{4,})`},
		{"imap_login", `(?:^|[\s>])[A-Za-z]{0,4}[0-9]{1,6}[ \t]+LOGIN[ \t]+["']?[^\s"']+["']?[ \t]+["']?([^\s"']{5,})`},
		{"smtp_password", `334 UGFzc3dvcmQ6[ \t]*\r?\n[CS>: ]{0,4}([A-Za-z0-9+/]{6,}={0,2})`},
		{"sent_password", `\bsend[ \t]+(?:--[ \t]+)?\\?["'](` + mixed + `)\\{1,2}[rn]`},
		{"asked_password", `(?i)(?:passw(?:or)?d|passphrase)[^\n]{0,20}["'}][;,\s]{1,40}(?:exp_)?send(?:line)?[ \t(]+(?:--[ \t]+)?\\?["']([^"'\\\n]{4,})`},
		{"saml_message", `(?i)\bsaml(?:response|assertion|art)["']?[ \t]{0,3}[=:][ \t]{0,3}["']?([\w%+/=-]{40,})`},
		{"oauth_code", `\bcode=([\w./%~-]{16,})&(?:state|scope|session_state|redirect_uri|client_id|grant_type|iss|code_verifier)=`},
		{"oauth_code_last", `(?:state|scope|session_state|redirect_uri|client_id|grant_type)=[^&\s"']*&code=([\w./%~-]{16,})`},
		{"invitation", `(?i)/(?:invit\w{0,8}|accept\w{0,8}|verif\w{0,8}|reset\w{0,16}|recover\w{0,8}|confirm\w{0,8}|activat\w{0,8}|magic\w{0,8}|unsubscribe|set-password|passwordless|login|share)(?:/[\w-]{1,24}){0,2}\?(?:[\w-]+=[^&\s]*&)?(?:t|k|c|h|s|id|hash|key|code|ticket|invite|v|otp)=([\w.~-]{20,})`},
		{"invitation_path", `(?i)/(?:invites?|verify|verify-email|reset|reset-password|password-reset|recover|confirm|activate|magic|magic-link|set-password)/([\w-]{24,})(?:[\s"'<>?&]|$)`},
		{"wifi_code", `WIFI:(?:[A-OQ-Z]:[^;\n]*;){0,4}P:([^;\n]{4,});`},
		{"wifi_key", `(?i)\bkey content[ \t]*:[ \t]*([^\s]{6,})`},
		{"snmp_user", `\bcreateUser[ \t](?:[^\n]*?[ \t])??(?:MD5|SHA(?:-?[0-9]{3})?)[ \t]+["']?([^\s"']{6,})`},
		{"snmp_privacy", `\bcreateUser[ \t][^\n]*?[ \t](?:DES|AES(?:-?[0-9]{3})?)[ \t]+["']?([^\s"']{6,})`},
		{"snmp_community", `(?m)\b(?:r[ow]community6?|com2sec6?[ \t]+\S+[ \t]+\S+|trap2?sink[ \t]+\S+)[ \t]+["']?([^\s"']{6,})`},
		{"acl_password", `(?i)\b(?:set)?user[ \t]+\S+[ \t](?:[^\n"']*?[ \t"',])?[>#]([^\s"',>]{6,})(?:["']?,?[ \t]+["']?(?:[~+&%-]|on\b|off\b|all|reset)|["']?[ \t]*$)`},

		// These codes are issued to people.
		{"pin_code", `(?i)(?:^|[^a-z0-9#])(?:[a-z]{2,10}[ _-])?(?:pin|otp|totp|pin[ _-]?code|mfa|2fa|cvv2?|cvc2?|passcode|puk)(?:[ _-]?code)?["']?(?:[ \t]+(?:is|was|ist)[ \t:]*|[ \t]*[:=][ \t]*)["'\x60]?(` + code + `|[0-9]{3}[ -][0-9]{3})(?:[\s"'\x60;,)\]}&]|\.(?:\s|$)|$)`},
		{"code_told", `(?i)\b(?:door|gate|access|verification|security|login|sign-?in|confirmation|authenti(?:cation|cator)|one-?time|auth|alarm|unlock|lock|safe|pairing|2fa|mfa|sms)[ _-]?(?:pass|pin)?[ _-]?codes?["']?(?:[ \t]+(?:is|was)(?:[ \t]now)?[ \t:]*|[ \t]*[:=][ \t]*)["'\x60]?(` + code + `|[0-9]{3}[ -][0-9]{3})(?:[\s"'\x60;,)\]}&]|\.(?:\s|$)|$)`},
		{"code_before", `\b((?:[A-Z]-)?[0-9]{4,8})\b (?:is|as) (?:your|the) [A-Za-z -]{0,40}?(?:code|passcode|OTP|PIN|password)\b`},
		{"code_given", `(?i)\b(?:(?:enter|use|type|with)(?: the)?(?: \w+)? (?:code|pin|otp)|(?:pin|otp|passcode)) ["'\x60]?([0-9]{4,8})["'\x60]? (?:was|is|to|as|for|when|at|in)\b`},
		{"recovery_codes", `(?i)\b(?:recovery|backup|scratch|emergency|rescue)[ _-]?codes?["']?[ \t]*[:=]?\s{0,4}((?:[-*"'\[\s]{0,8}(?:[0-9]{1,2}[.)][ \t]+)?[a-z0-9]{0,12}[0-9][a-z0-9]{0,12}(?:[- ][a-z0-9]{4,8}){0,4}["',;\s]{0,4}){1,20})`},
		{"otp_seed", `(?i)\b(?:totp|2fa|mfa|otp|authenticator|two-?factor)[\w -]{0,20}(?:seed|secret|key)(?:[ ]key|[ ]is)?[ \t"':=]{1,6}((?-i:[A-Z0-9]{16,}|(?:[A-Z2-7]{4} ){3,}[A-Z2-7]{4}|(?:[a-z2-7]{4} ){3,}[a-z2-7]{4}))\b`},
		{"unseal_key", `(?i)\bunseal[ _]key[ _]?[0-9]{0,2}[ "']{0,3}[:=][ "']{0,3}([A-Za-z0-9+/]{32,}={0,2})`},
		{"card_code", `(?i)\b(?:cvv2?|cvc2?|csc)["']?(?:[ \t]+is[ \t]+|[ \t]*[:=][ \t]*)["'\x60]?([0-9]{3,4})(?:[\s"'\x60;,)\]}&]|$)`},
		{"card_number", `(?i)\bcard[ _-]?(?:number|num|no)["']?[ \t]*[:=][ \t]*["']?([0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{1,7})\b`},

		// In a sentence.
		{"account_told", `(?i)\b(?:credentials?|creds|log[ -]?in|account|logged in (?:as|with)|sign in (?:as|with)|user(?:name)?)(?:[ \t](?:is|are|with|as|was))?[ \t]*[:=]?[ \t]+["'\x60]?[\w.@+-]{2,40}["'\x60]?(?:[ \t]*[/|][ \t]*|:)["'\x60]?(` + mixed + `)`},
		{"named_before", `[A-Z0-9]_(?:PASS(?:WORD|WD|PHRASE)?|PWD?|TOKEN|SECRET|API_?KEY|SECRET_KEY|ACCESS_KEY|PRIVATE_KEY)[ \t]+["'\x60]?([^\s"'\x60=<>|]*[0-9][^\s"'\x60<>|]*)`},
		{"named_before_option", `\b(?:secret_access_key|access_token|api_token|auth_token|refresh_token|client_secret|account_key|session_token|user_pw|owner_pw|api_key)[ \t]+["']?([^\s"'\x60=<>|:]*[0-9][^\s"'\x60<>|]*)`},
		{"token_before", `(?i)\btoken[ \t]+["'\x60(]?([0-9a-f]{32,64})\b`},

		// This text is typed into a field.
		{"typed_password", `(?i)(?:passw(?:or)?d|passphrase|pwd|passcode)[^\n]{0,30}?\)?\.(?:send_?keys|type|fill|set_?value|press_sequentially|enter_?text|clear_and_type|input)\([ \t]*["'\x60]([^"'\x60\n]{5,})["'\x60]`},

		// These are arguments of encryption functions.
		{"cipher_key", `\b(?:Fernet|AES\.new|ChaCha20Poly1305|AESGCM|AESSIV|SecretBox|Blowfish\.new|ARC4\.new|DES3?\.new|aes\.NewCipher|SecretKeySpec|createCipheriv|createDecipheriv|SigningKey|itsdangerous\.\w+Serializer|URLSafeTimedSerializer)\((?:["'][\w-]+["'],[ \t]*)?(?:\[\]byte\(|Buffer\.from\()?b?["']([\w+/=-]{16,})["']`},
		{"sql_cipher", `(?i)\b(?:pgp_sym_(?:en|de)crypt(?:_bytea)?|(?:aes|des)_(?:en|de)crypt|encryptbypassphrase|decryptbypassphrase|(?:en|de)crypt(?:_iv)?)\([ \t]*(?:'[^'\n]*'|[^\s'(),]+(?:::\w+)?)[ \t]*,[ \t]*'([^'\n]*[0-9][^'\n]*)'`},
		{"sql_crypt", `(?i)\b(?:crypt|digest|md5|sha[12]|sha256)\([ \t]*'([^'\n]{6,})'[ \t]*,[ \t]*gen_salt`},
		{"account_call", `(?i)\b(?:db\.auth|changeuserpassword|createuser|adduser|set_?user_?password|reset_?password|update_?password|change_?password|verify_?password|check_?password|hash_?password|create_?superuser|authenticate|signinwithemailandpassword|login_?user)\([ \t]*(?:(?:[\w.]+|\\?["'][^"'\n\\]*\\?["'])[ \t]*,[ \t]*){0,3}\\?["']([^"'\n\\@]{5,})\\?["']`},
		{"service_client", `\bAC[0-9a-f]{32}["']?[ \t]*[,:][ \t]*["']?([0-9a-f]{32})\b`},
	} {
		list = append(list, Detector{Name: c.name, Group: FirstGroup, Entropy: 1, StopWords: stop, Pattern: c.pattern, Allowed: none})
	}

	for i := range list {
		switch list[i].Name {
		case "saml_message", "pin_code", "code_told", "code_before", "code_given", "recovery_codes", "card_code", "card_number": // numbers alone
			list[i].Allow, list[i].Allowed, list[i].StopWords, list[i].Entropy = []string{`^(?:19|20)[0-9]{2}$`, `^0+$`}, nil, nil, 0
		}
	}

	return append(append(list, columns()...), latestTokens()...)
}

// maxColumn is the maximum number of table columns after the password column.
const maxColumn = 6

// columns returns detectors for values in a column whose heading denotes a password. The detectors
// search the first row of a table and the first row that a statement inserts. Columns are counted
// from the end of the row, so that a match can begin at the heading.
func columns() []Detector {
	stop := placeholders()
	const (
		heading = `(?:passw(?:or)?d|passphrase|pwd|secret|token|api_?key)["\])\x60]?[ \t]*`
		name    = `[ \t]*["\[\x60]?\w[\w .-]*["\]\x60]?[ \t]*`
		cell    = `[ \t]*(?:[A-Za-z]*'[^'\n]*'|[^',()\n]+(?:\([^()\n]*\))?)[ \t]*`
		comma   = `[^,;\t\n]*`
		bar     = `[^|\n]*`
		mixed   = `[^\s",;|']*[0-9][^\s",;|']*`
	)

	var values, commas, bars []string
	for after := range maxColumn {
		values = append(values, strings.Repeat(`,`+name, after)+`\)\s*values\s*\((?:`+cell+`,)*[ \t]*[NE]?'([^'\n]{4,})'[ \t]*`+strings.Repeat(`,`+cell, after)+`\)`)
		commas = append(commas, strings.Repeat(`[,;\t]`+name, after)+`\r?\n(?:`+comma+`[,;\t])*[ \t]*"?(`+mixed+`)"?[ \t]*`+strings.Repeat(`[,;\t]`+comma, after)+`(?:\r?\n|$)`)
		bars = append(bars, strings.Repeat(`\|`+name, after)+`\|?[ \t]*\r?\n(?:[ \t]*[|+:-][|+: -]*\r?\n)?(?:`+bar+`\|)*[ \t]*(`+mixed+`)[ \t]*`+strings.Repeat(`\|[ \t]*[^|\s]`+bar, after)+`\|?[ \t]*(?:\r?\n|$)`)
	}

	none := []Allowance{{Patterns: append(append(references(), noPassword()...), words, plainName, `^[0-9.,:/%-]+$`, `^.{1,4}$`, `^[0-9-]+[T ][0-9:]+`, `[(){};]`)}}
	var list []Detector
	for _, c := range []struct {
		name string
		rows []string
	}{{"sql_inserted", values}, {"column_comma", commas}, {"column_bar", bars}} {
		list = append(list, Detector{Name: c.name, Group: FirstGroup, Entropy: 1.5, StopWords: stop, Allowed: none, Pattern: `(?i)` + heading + `(?:` + strings.Join(c.rows, "|") + `)`})
	}

	return list
}

// latestTokens returns the detectors that come last, so that the secret of a known service is
// reported under the name of the service.
func latestTokens() []Detector {
	return []Detector{
		// This pattern matches tokens of services that have no detector: the owner, the kind of
		// token, and at least 20 letters or digits.
		token("prefixed_token", `[a-z]{2,12}_(?:live|test|prod|sk|sec|secret|key|pat|api|apikey|token)_[A-Za-z0-9]{20,}\b`, 3.5).allow(words, identifier, `^[^0-9]*$`),
		token("extended_private_key", `[xyzt]prv[1-9A-HJ-NP-Za-km-z]{90,112}\b`, 4),
		token("firecrawl_key", `fc-[0-9a-f]{32}\b`, 3),
		token("posthog_key", `phx_[A-Za-z0-9_]{40,}\b`, 4),
		{Name: "openvpn_key", Pattern: `-----BEGIN OpenVPN Static key V1-----[\s\\nr0-9a-f]{32,}`},
	}
}
