package redact

import "strings"

// Upstream returns the rules of the protocol's own harness: its sensitive names,
// its rule for strings that are one http(s) URL, and its 16 patterns. They miss
// much and hit much that is not a secret; they are here to compare with.
func Upstream() Rules {
	return Rules{
		Name: "upstream",
		Names: strings.Fields(`
			persisted_path primary run_path snapshot_ref snapshot_path source_path
			authorization proxyauthorization cookie setcookie apikey xamzsecuritytoken xapikey xauthtoken xcsrftoken xxsrftoken
			accesstoken refreshtoken idtoken bearertoken clientsecret password secret passwd privatekey sessiontoken
			*token *secret *password *apikey`),
		Pointers:  []string{"/**/event_log_pointers/*/path", "/**/transcript_pointers/*/path"},
		URLs:      URLsWhole,
		Detectors: UpstreamDetectors(),
	}
}

// Default returns the rules for everyday use: upstream's names, headers, URLs
// anywhere in a text, [DefaultDetectors], which find more secrets and fewer
// others, and the name of a home directory.
func Default() Rules {
	r := Upstream()
	r.Name = "default"
	r.Headers, r.Members, r.References, r.URLs = true, true, true, URLsAnywhere
	r.Detectors = append(DefaultDetectors(), homePath())
	return r
}

// homePath finds the name of a person in the path of a home directory. It is
// not a secret, but is no business of whoever reads a receipt. An account that
// machines and images have is nobody's.
func homePath() Detector {
	return Detector{
		Name:     "home_path",
		Pattern:  `(?:^|[^A-Za-z0-9_.-])(?:/home/|/Users/|[A-Za-z]:(?:\\|[\\/])Users(?:\\|[\\/]))([^/\\\s"'<>:;,()]+)`,
		Group:    1,
		Keywords: []string{"/home/", "users"},
		Allow: []string{`^(?:Shared|Public|Default|runneradmin|ContainerAdministrator)$`,
			`^(?:admin|app|appuser|azureuser|build|builder|centos|ci|circleci|cloud|coder|codespace|debian|deploy|deployer|dev|developer|docker|ec2-user|fedora|git|gitpod|gitlab-runner|jenkins|jovyan|linuxbrew|node|nobody|nonroot|opc|postgres|python|root|runner|sandbox|service|svc|travis|ubuntu|user|username|vagrant|vscode|web|work|www|www-data)$`},
	}
}

// Strict returns the rules of [Default] and withholds what people and models
// wrote: the members that usually hold it, by name, and the places of a receipt
// that are free text. What tools were called with and what they returned is
// among that.
func Strict() Rules {
	r := Default()
	r.Name = "strict"

	// Upstream's replay-only mode, and in the second line what it overlooks.
	r.Names = append(r.Names, strings.Fields(`
		args arguments blocks content data private_reasoning prompt raw_input raw_output result response_text summary system system_prompt task text thinking visible_text
		input output stdout stderr message title description`)...)
	r.Pointers = append(r.Pointers, strings.Fields(`
		/lifecycle/failure/**/details
		/**/unavailable_reason
		/replay_input/materials/*/bytes_base64
		/model_route/**/reason
		/model_route/**/route_policy_reason
		/side_effects/network_egress/*/purpose
		/side_effects/tool_calls/*/metadata/**
		/deltas/*/reason`)...)

	return r
}
