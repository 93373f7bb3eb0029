package secret

// argument matches an argument on a command line that is neither an option nor a variable.
const argument = `(?:"([^"\n]{3,})"|'([^'\n]{3,})'|\\+"([^"\\\n]{3,})\\+"|([^\s"'|;&<>$\\\x60-][^\s"'|;&<>\x60]{2,}))`

// commands returns detectors for secrets in the arguments of commands.
func commands() []Detector {
	stop := placeholders()
	var list []Detector
	prose := Allowance{Target: TargetMatch, Patterns: []string{`--[a-z-]+[ \t]+(?:[A-Z]?[a-z_-]+|[A-Z_-]+)[.,;:)\]]*$`}}
	none := []Allowance{prose, {Patterns: append(references(), `^(?:(?i:your|my|the|a|new|some)?[_-]?(?i:passw(?:or)?d|pass|pw|pwd|token|secret|value|key|user(?:name)?)|[A-Z]{4,}(?:_[A-Z]+)*|true|false|null|none|yes|no)$`, `^[*xX.]+$`, `>$`, `^(?:\.{0,2}/|~/?)[\w.-]+(?:/|$)`, `^%`)}}
	for _, c := range []struct{ name, pattern string }{
		{"password_option", `(?i)(?:^|[\s"'\[,])--?[\w-]{0,40}(?:passw(?:or)?d|passphrase|secret|secret-?key|token|api-?key|access-?key|bearer|credentials?|psk|requirepass|masterauth|-pass|-pwd?|(?-i:--pass|-pw))(?:=|[ \t]+|["'],[ \t]*)` + argument},
		{"key_option", `(?i)(?:^|[\s"'])--(?:[a-z-]{0,20}-)?key(?:=|[ \t]+)["']?(` + hexID + `|[a-z0-9+/_-]{32,}={0,2})`},
		{"password_storage", `-(?:src|dest)?(?:storepass|keypass)(?::env)?(?:=|[ \t]+)` + argument},
		{"password_source", `[-_ ]pass(?:in|out)?[ \t=]{1,3}["']?pass:` + argument},
		{"mysql_password", gap(`(?:mysql(?:dump|admin|import|show|check|sh|binlog|pump)?|mariadb(?:-[a-z]{1,12})?|mycli|xtrabackup)`) + `-p` + argument},
		{"login_password", gap(`(?:docker|podman|buildah|skopeo|helm|nerdctl|crane|oras|az|cf|ibmcloud|oc|argocd|vercel|jf)`) + `login[ \t](?:[^\n|;&]*?[ \t])?(?:-p|--pass)[ \t=]{1,3}` + argument},
		{"client_password", gap(`(?:mongo(?:sh|dump|restore|import|export|stat|top|files)?|cqlsh|rdesktop|ncftp(?:put|get)?|evil-winrm|sshpass|snowsql|psexec|cypher-shell|smbmap|crackmapexec|nxc|netexec|arangosh|kinit|iscsiadm|ipmitool|influx|hydra|twine|svn|duplicity|signtool|certutil|wmic|winrs|nexus|wrk2)`) + `(?:-p|/p)[: \t]*` + argument},
		{"sqlcmd_password", gap(`(?:sqlcmd|osql|bcp|isql|tsql|mosquitto_(?:pub|sub|rr)|zip|zipcloak|ipmitool)`) + `-P[ \t]*` + argument},
		{"ldap_password", gap(`(?:ldap(?:search|modify|add|delete|passwd|whoami|compare|modrdn|exop|vi))`) + `-[ws][ \t]*` + argument},
		{"redis_password", gap(`(?:redis-cli|valkey-cli|keydb-cli|redli)`) + `-a[ \t]*` + argument},
		{"putty_password", gap(`(?:plink|pscp|psftp|putty)`) + `-pw[ \t]+` + argument},
		{"openssl_password", gap(`openssl`) + `-[kK][ \t]+` + argument},
		{"archive_password", gap(`(?:7z[aro]?|7za|7zz|unrar|rar|unzip|arj)(?:\.exe)?`) + `-(?:p|hp|P[ \t])[ \t]*` + argument},
		{"windows_password", `(?i)\b(?:cmdkey|[xw]freerdp3?|mstsc|net[ \t]use|psexec|schtasks|sc|wmic|runas|dsadd|dsmod|netdom|vncviewer)(?:\.exe)?[ \t](?:[^\n|;&]*?[ \t])?/(?:pass(?:word)?|p|pw|pwd|rp|passwordd|passwordo):` + argument},
		{"windows_account", `(?i)\bnet1?(?:\.exe)?[ \t]+user[ \t]+[^\s/]+[ \t]+` + argument},
		{"windows_share", `(?i)\bnet(?:\.exe)?[ \t]+use[ \t]+(?:[a-z*]:?[ \t]+)?\\{2,4}[^\s]+[ \t]+([^\s/"'$%-][^\s"']{3,})[ \t]+/u`},
		{"samba_password", gap(`(?:smbclient|rpcclient|smbget|smbcacls|smbspool|net|wmic|winexe|smbmap|mount\.cifs|smbpasswd)`) + `(?:-U|--user)[ \t=]{0,3}["']?[^\s"'%]+%([^\s"']{3,})`},
		{"curl_option", gap(`curl(?:\.exe)?`) + `(?:-U|--proxy-user|-E|--cert|--tlsuser|-u)[ \t=]{0,3}["']?[^\s"':]+:([^\s"']{3,})`},
		{"user_option", `(?i)(?:^|[\s"'])(?:-a|--auth|--user|--userpwd|--creds?|--credentials|--basic-auth|--proxy-user|--http-user)[ \t=]{1,3}["']?[\w.@+\\-]+:([^\s"':/]{4,})`},
		{"lftp_password", gap(`(?:lftp|sftp)`) + `-u[ \t]*["']?[^\s,"']+,([^\s"']{3,})`},
		{"rabbitmq_password", `\brabbitmqctl[ \t](?:[^\n|;&]*?[ \t])?(?:add_user|change_password|authenticate_user)[ \t]+(?:--[ \t]+)?[^\s]+[ \t]+` + argument},
		{"htpasswd_password", `\bhtpasswd[ \t](?:[^\n|;&]*?[ \t])?-[a-zA-Z0-9]*b[a-zA-Z0-9]*[ \t](?:[^\n|;&]*?[ \t])?[^\s|;&]+[ \t]+` + argument + `[ \t]*(?:$|\n|[|;&>])`},
		{"wifi_password", `\b(?:wpa_passphrase[ \t]+(?:"[^"\n]+"|'[^'\n]+'|[^\s"']+)|nmcli[ \t](?:[^\n|;&]*?[ \t])?(?:password|wifi-sec\.psk|802-11-wireless-security\.psk))[ \t]+` + argument},
		{"vault_login", gap(`(?:vault|bao)`) + `login[ \t]+(?:-[\w-]+(?:=[^\s]*)?[ \t]+)*` + argument},
		{"stored_secret", `\b(?:gh|glab|wrangler|vercel|supabase)[ \t]+(?:secret|variable|env)[ \t]+(?:set|add|put)[ \t](?:[^\n|;&]*?[ \t])?(?:-b|--body|-v|--value)[ \t=]{1,3}` + argument},
		{"vault_secret", gap(`az`) + `secret[ \t]+set[ \t](?:[^\n|;&]*?[ \t])?--value[ \t=]+` + argument},
		{"token_login", `\b(?:snyk[ \t]+auth|cargo[ \t]+login|codecov[ \t]+-t|ngrok[ \t]+(?:config[ \t]+add-)?auth-?token|infracost[ \t]+configure[ \t]+set[ \t]+api_key|bundle[ \t]+config[ \t]+(?:set[ \t]+)?(?:--global[ \t]+)?[\w./:-]+)[ \t]+` + argument},
		{"set_secret", `\b(?:heroku[ \t]+config:(?:set|add)|(?:fly|flyctl|doppler|eb|railway|infisical|netlify|supabase|pulumi)[ \t]+(?:secrets?|config|setenv|variables|env:set)(?:[ \t]+(?:set|import))?)[ \t](?:[^\n|;&]*?[ \t])?["']?[A-Za-z]\w*=([^\s"'$<][^\s"']{7,})`},
		{"literal_secret", `--from-literal[= \t]{1,3}["']?[\w.-]+=([^\s"'$<][^\s"']{3,})`},
		{"aws_setting", `\baws[ \t](?:[^\n|;&]*?[ \t])?configure[ \t](?:[^\n|;&]*?[ \t])?set[ \t]+[\w.-]*(?:secret_access_key|session_token)[ \t]+` + argument},
		{"aws_secret_string", `--secret-string[ \t=]{1,3}` + argument},
		{"aws_parameter", `\bput-parameter[ \t](?:[^\n|;&]*?[ \t])?SecureString[ \t](?:[^\n|;&]*?[ \t])?--value[ \t=]{1,3}` + argument},
		{"aws_parameter_before", `\bput-parameter[ \t](?:[^\n|;&]*?[ \t])?--value[ \t=]{1,3}` + argument + `[ \t][^\n|;&]*SecureString`},
		{"stored_password", `(?i)\b(?:consul|etcdctl|redis-cli|vault|bao|security|pass|npm|yarn|pnpm|git|snap|pip|poetry|composer|bundle)[ \t](?:[^\n|;&]*?[ \t])?(?:put|set|config)[ \t](?:[^\n|;&]*?[ \t])?["']?[\w./:@-]*(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|/pw|_authtoken|:_auth|_pass)["']?[ \t=]{1,3}` + argument},
		{"piped_secret", `\b(?:echo|printf)[ \t]+(?:-[neE]{1,3}[ \t]+|%s[ \t]+|'%s'[ \t]+)?` + argument + `[ \t]*\|[ \t]*(?:sudo[ \t](?:[^\n|;&]*?[ \t])?(?:-[a-zA-Z]*S|passwd)|[^\n|;&]+(?:password-stdin|with-token|passphrase-fd|--stdin|secret[ \t]set|secret[ \t]put|secrets[ \t](?:create|versions)|key-file|luksOpen|luksFormat)|kinit)`},
		{"piped_account", `\b(?:echo|printf)[ \t]+(?:-[neE]{1,3}[ \t]+)?["']?[\w.@-]+:([^\s"'$|][^\s"'|]{2,})["']?[ \t]*\|[ \t]*(?:sudo[ \t]+)?chpasswd`},
		{"here_secret", `(?:\b(?:kinit|secrets?)[ \t][^\n<]*|--with-token|--password-stdin|passwd|secret[ \t]set[ \t][^\n<]+|-S)[ \t]*<<<[ \t]*` + argument},
		{"oracle_login", `(?i)(?:\b(?:sqlplus|sqlldr|expdp|impdp|rman|sqlcl|exp|imp)[ \t](?:[^\n|;&]*?[ \t])?["']?|jdbc:oracle:\w{1,8}:|userid=)[\w$#]+/"?([^\s"'@/]{3,})"?@`},
		{"account_at_host", gap(`(?:impacket-\w+|psexec|wmiexec|smbexec|secretsdump|atexec|dcomexec|mssqlclient|smbclient|getuserspns|GetUserSPNs|rabbitmqadmin|scp|mc)(?:\.py)?`) + `["']?(?:[\w.-]+/)?[\w.-]+:([^\s"'@/:]{4,}[!]?)@[\w.-]{2,}`},
		{"server_password", `(?im)(?:^|[\s"'>])(?:requirepass|masterauth|sentinel[ \t]auth-pass[ \t]\w+|config[ \t]set[ \t](?:requirepass|masterauth)|bindpw|bind_pw|rootpw|rootbindpw|ldap_bind_pw|smtp_sasl_password|auth_pass|message-digest-key[ \t]+[0-9]+[ \t]+md5)[ \t]+` + argument},

		// These detectors find a user and a password in adjacent options of any program.
		{"account_options", `(?:^|[ \t"'])(?:-(?:u|U|l|user|username)|--user(?:name)?|--login)[ \t=]{1,3}[^\s-][^\s]*[ \t]+(?:-[\w-]+(?:[ \t=][^\s-][^\s]*)?[ \t]+){0,4}?(?:-p|-P|--pass|-w)[ \t=]{1,3}(?:"([^"\n]{3,})"|'([^'\n]{3,})'|([^\s"'|;&<>$\\\x60/.:-][^\s"'|;&<>\x60/:]*(?:[0-9][^\s"'|;&<>\x60/:]*[A-Z]|[A-Z][^\s"'|;&<>\x60/:]*[0-9]|[!@#?^~+=])[^\s"'|;&<>\x60/:]*))`},
		{"options_account", `(?:^|[ \t"'])(?:-p|-P|--pass)[ \t=]{1,3}(?:"([^"\n]{3,})"|'([^'\n]{3,})'|([^\s"'|;&<>$\\\x60/.:-][^\s"'|;&<>\x60/:]*(?:[0-9][^\s"'|;&<>\x60/:]*[A-Z]|[A-Z][^\s"'|;&<>\x60/:]*[0-9]|[!@#?^~+=])[^\s"'|;&<>\x60/:]*))[ \t]+(?:-[\w-]+(?:[ \t=][^\s-][^\s]*)?[ \t]+){0,4}?(?:-(?:u|U|l|user)|--user(?:name)?)[ \t=]`},
		{"iscsi_password", gap(`iscsiadm`) + `-n[ \t]+\S*password[ \t]+-v[ \t]+` + argument},
		{"influx_token", gap(`influx`) + `(?:-t|--token)[ \t=]+` + argument},
		{"snmp_server_user", `\bsnmp-server[ \t]+user[ \t][^\n]*?\bauth[ \t]+(?:md5|sha[0-9-]*)[ \t]+` + argument},
		{"snmp_server_privacy", `\bsnmp-server[ \t]+user[ \t][^\n]*?\bpriv[ \t]+(?:des|3des|aes)(?:[ \t]+[0-9]{3})?[ \t]+` + argument},
		{"account_added", gap(`(?:useradd|usermod|adduser)`) + `(?:-p|--password)[ \t=]{1,3}` + argument},
		{"key_passphrase", gap(`(?:ssh-keygen|puttygen)`) + `(?:-N|-P|--new-passphrase|--old-passphrase)[ \t]*` + argument},
		{"keychain_password", gap(`security`) + `add-(?:generic|internet)-password[ \t](?:[^\n|;&]*?[ \t])?-w[ \t]+` + argument},
		{"keychain_unlock", gap(`security`) + `(?:unlock-keychain|create-keychain|set-keychain-password|import)[ \t](?:[^\n|;&]*?[ \t])?-[pP][ \t]+` + argument},
		{"qpdf_password", `\bqpdf[ \t](?:[^\n|;&]*?[ \t])?--encrypt[ \t]+` + argument + `[ \t]`},
		{"qpdf_owner_password", `\bqpdf[ \t](?:[^\n|;&]*?[ \t])?--encrypt[ \t]+\S+[ \t]+` + argument + `[ \t]+(?:40|128|256)`},
		{"isql_password", `\b(?:isql|iusql)[ \t]+(?:-[\w]+[ \t]+)*[\w.-]+[ \t]+[\w.-]+[ \t]+` + argument},
		{"snmp_option", `\bsnmp(?:walk|get|getnext|bulkget|bulkwalk|set|table|trap|inform|status|df|netstat|translate)[ \t](?:[^\n|;&]*?[ \t])?-(?:c|A)[ \t]*` + argument},
		{"snmp_privacy_option", `\bsnmp(?:walk|get|getnext|bulkget|bulkwalk|set|table|trap|inform)[ \t](?:[^\n|;&]*?[ \t])?-X[ \t]*` + argument},
		{"alias_secret", `\b(?:mc|mcli)[ \t]+(?:alias[ \t]+set|config[ \t]+host[ \t]+add)[ \t]+\S+[ \t]+\S+[ \t]+\S+[ \t]+` + argument},
		{"unseal_command", gap(`(?:vault|bao)`) + `(?:operator[ \t]+)?unseal[ \t]+(?:-[\w-]+(?:=\S*)?[ \t]+)*` + argument},
		{"set_secret_pair", `\b(?:pulumi|fly|flyctl|wrangler|netlify|sops|chamber|credstash|conjur|railway|infisical|stack|now|vercel|eas|expo|firebase|ng|render|snowcli|teller|berglas)[ \t](?:[^\n|;&]*?[ \t])?(?:config[ \t]+set|env:set|secrets?:?[ \t]*set|put|write)[ \t](?:[^\n|;&]*?[ \t])?(?:--secret[ \t]+)?[\w.:/-]*(?i:passw(?:or)?d|secret|token|api_?key|key|pwd?)[ \t]+` + argument},
		{"share_password", `(?i)\bnet(?:\.exe)?[ \t]+use[ \t][^\n|;&]*?/u(?:ser)?:\S+[ \t]+([^\s/"'$%*-][^\s"']{3,})`},
		{"task_password", `(?i)\b(?:schtasks|runas|sc|at|wmic|dsadd|netdom|appcmd)(?:\.exe)?[ \t](?:[^\n|;&]*?[ \t])?(?:/(?:rp|p|pass(?:word)?|pd|po)[ \t]+|password=[ \t]*|/savecred[ \t]+)` + argument},
		{"here_answer", `\b(?:read[ \t]+-[a-z]*s[^\n<]*|cryptsetup[ \t][^\n<]*|pass[ \t]+(?:insert|add)[ \t][^\n<]*|secret-tool[ \t][^\n<]*|keyring[ \t]+set[ \t][^\n<]*|su[ \t][^\n<]*|sudo[ \t][^\n<]*-S[^\n<]*|gpg[ \t][^\n<]*|ssh-add[^\n<]*|openssl[ \t][^\n<]*)<<<[ \t]*` + argument},
		{"piped_answer", `\b(?:echo|printf)[ \t]+(?:-[neE]{1,3}[ \t]+|%s[ \t]+|'%s'[ \t]+|"%s"[ \t]+)?` + argument + `[ \t]*\|[ \t]*(?:sudo[ \t]+)?(?:cryptsetup|su[ \t]|pass[ \t]+insert|secret-tool|ssh-add|zfs|bcrypt|ansible-vault|vault[ \t]+(?:kv|write|login)|kubectl[ \t]+create[ \t]+secret|docker[ \t]+secret|gh[ \t]+secret|podman[ \t]+secret|wrangler[ \t]+secret|passwd|smbpasswd|mkpasswd|openssl[ \t]+passwd|htpasswd|argon2)`},
		{"process_password", `<\([ \t]*(?:echo|printf)[ \t]+(?:-n[ \t]+|'?%s'?[ \t]+)?` + argument + `[ \t]*\)`},
		{"echoed_password", `(?i)(?:pass(?:word)?|askpass|passphrase)[\w-]*=?[ \t"']*(?:cmd|command|program)?=?["']?echo[ \t]+(?:-n[ \t]+)?` + argument},
		{"installer_password", `(?m)\brootpw[ \t]+(?:--(?:plaintext|iscrypted|allow-ssh)[ \t]+){1,3}` + argument},
		{"chpasswd_account", `\bchpasswd:?[^\n]{0,20}\n(?:[ \t]*(?:expire|list|users):[^\n]*\n){0,3}[ \t-]*[\w.-]+:([^\s"'$|*][^\s"'|]{3,})`},
		{"ftp_account", `\bftp[ \t][^\n]*<<[^\n]*\n(?:[^\n]*\n){0,3}?[ \t]*(?:quote[ \t]+)?user[ \t]+\S+[ \t]+` + argument},
		{"redis_auth", `(?m)(?:^|\n|> ?|")AUTH[ \t]+(?:[\w.-]+[ \t]+)?` + argument + `[ \t]*(?:"|\r|\n|$)`},
	} {
		list = append(list, Detector{Name: c.name, Group: FirstGroup, Entropy: 1.5, StopWords: stop, Pattern: c.pattern, Allowed: none})
	}

	return list
}

// gap returns a pattern that matches a command and the following text on the same line, up to an
// option.
func gap(command string) string {
	return `\b` + command + `[ \t](?:[^\n|;&]*?[ \t])?`
}
