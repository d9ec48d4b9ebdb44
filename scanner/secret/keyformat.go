package secret

import "strings"

// A keyForm is the published shape of one provider's keys.
type keyForm struct {
	prefix string
	rule   string
	min    int // characters after the prefix
	exact  int // characters after the prefix, if they are always as many
}

// keyForms by first letter, so that a word costs one look.
var keyForms = [256][]keyForm{
	'A': {
		{"AKIA", "aws", 0, 16}, {"ASIA", "aws", 0, 16}, {"ABIA", "aws", 0, 16}, {"ACCA", "aws", 0, 16},
		{"AIza", "google", 35, 0}, {"ATATT3", "atlassian", 50, 0}, {"ATCTT3", "atlassian", 50, 0},
		{"AGE-SECRET-KEY-1", "age", 40, 0}, {"AKID", "tencent", 32, 0},
	},
	'E': {{"EAA", "meta", 60, 0}},
	'G': {{"GOCSPX-", "google", 24, 0}},
	'L': {{"LTAI", "alibaba", 16, 0}},
	'N': {{"NRAK-", "newrelic", 0, 27}},
	'P': {{"PMAK-", "postman", 50, 0}},
	'S': {{"SG.", "sendgrid", 50, 0}, {"SK", "twilio", 0, 32}},
	'd': {
		{"dop_v1_", "digitalocean", 60, 0}, {"doo_v1_", "digitalocean", 60, 0}, {"dor_v1_", "digitalocean", 60, 0},
		{"dckr_pat_", "docker", 20, 0}, {"dapi", "databricks", 0, 32}, {"dp.pt.", "doppler", 40, 0},
		{"dp.st.", "doppler", 40, 0}, {"discord_", "discord", 50, 0},
	},
	'e': {{"eyJ", "jwt", 30, 0}},
	'f': {{"figd_", "figma", 30, 0}, {"fw_", "fireworks", 22, 0}, {"fm2_", "fly", 30, 0}},
	'g': {
		{"ghp_", "github", 30, 0}, {"gho_", "github", 30, 0}, {"ghu_", "github", 30, 0}, {"ghs_", "github", 30, 0},
		{"ghr_", "github", 30, 0}, {"github_pat_", "github", 40, 0},
		{"glpat-", "gitlab", 20, 0}, {"gldt-", "gitlab", 20, 0}, {"glrt-", "gitlab", 20, 0}, {"glcbt-", "gitlab", 20, 0},
		{"glptt-", "gitlab", 20, 0}, {"glft-", "gitlab", 20, 0}, {"glimt-", "gitlab", 20, 0}, {"glagent-", "gitlab", 20, 0},
		{"gloas-", "gitlab", 20, 0}, {"glsoat-", "gitlab", 20, 0}, {"glffct-", "gitlab", 20, 0},
		{"glsa_", "grafana", 30, 0}, {"glc_", "grafana", 30, 0}, {"gsk_", "groq", 40, 0},
	},
	'h': {{"hf_", "huggingface", 30, 0}, {"hvs.", "vault", 20, 0}, {"hvb.", "vault", 20, 0}, {"hch-", "honcho", 20, 0}},
	'k': {{"key-", "mailgun", 0, 32}},
	'l': {{"lin_api_", "linear", 30, 0}, {"lsv2_", "langsmith", 30, 0}},
	'm': {{"m0-", "mem0", 30, 0}},
	'n': {{"npm_", "npm", 36, 0}, {"ntn_", "notion", 40, 0}, {"nvapi-", "nvidia", 40, 0}},
	'o': {{"ops_eyJ", "1password", 40, 0}},
	'p': {
		{"pypi-AgE", "pypi", 40, 0}, {"pscale_tkn_", "planetscale", 30, 0}, {"pscale_pw_", "planetscale", 30, 0},
		{"phx_", "posthog", 40, 0}, {"pplx-", "perplexity", 40, 0},
	},
	'r': {
		{"rk_live_", "stripe", 16, 0}, {"rk_test_", "stripe", 16, 0}, {"r8_", "replicate", 30, 0},
		{"rubygems_", "rubygems", 40, 0},
	},
	's': {
		{"sk-ant-", "anthropic", 20, 0}, {"sk-or-", "openrouter", 20, 0}, {"sk-", "openai", 20, 0},
		{"sk_live_", "stripe", 16, 0}, {"sk_test_", "stripe", 16, 0}, {"sq0atp-", "square", 20, 0}, {"sq0csp-", "square", 20, 0},
		{"shpat_", "shopify", 32, 0}, {"shpss_", "shopify", 32, 0}, {"shpca_", "shopify", 32, 0}, {"shppa_", "shopify", 32, 0},
		{"sntrys_", "sentry", 40, 0}, {"sntryu_", "sentry", 40, 0}, {"sbp_", "supabase", 40, 0}, {"sm_", "supermemory", 30, 0},
		{"secret_", "notion", 0, 43}, {"sl.", "dropbox", 100, 0},
	},
	't': {{"tvly-", "tavily", 20, 0}, {"tskey-", "tailscale", 30, 0}},
	'w': {{"whsec_", "stripe", 24, 0}},
	'x': {
		{"xoxb-", "slack", 20, 0}, {"xoxa-", "slack", 20, 0}, {"xoxp-", "slack", 20, 0}, {"xoxr-", "slack", 20, 0},
		{"xoxs-", "slack", 20, 0}, {"xoxe-", "slack", 20, 0}, {"xoxe.", "slack", 20, 0}, {"xoxc-", "slack", 20, 0},
		{"xoxd-", "slack", 20, 0}, {"xapp-", "slack", 20, 0}, {"xai-", "xai", 60, 0},
	},
	'y': {{"ya29.", "google", 30, 0}},
}

// keyFormat names the provider whose key s has the form of, or gives "".
func keyFormat(s string) string {
	for _, f := range keyForms[s[0]] {
		rest, ok := strings.CutPrefix(s, f.prefix)
		if !ok {
			continue
		}
		if f.exact > 0 && len(rest) != f.exact || len(rest) < f.min {
			continue
		}
		switch f.rule {
		case "jwt":
			if strings.Count(rest, ".") < 2 || !strings.Contains(rest, ".eyJ") && strings.Count(rest, ".") < 4 {
				continue
			}
		case "aws":
			if strings.ToUpper(rest) != rest || strings.ContainsAny(rest, "_-.") || strings.HasSuffix(rest, "EXAMPLE") {
				continue
			}
		case "twilio", "mailgun", "databricks":
			if !isHex(rest) {
				continue
			}
		}
		if !random(rest) {
			continue
		}
		return f.rule
	}
	return shaped(s)
}

// shaped names the provider whose keys have no beginning of their own but a
// form that nothing else has.
func shaped(s string) string {
	const number, of = 32, "-us" // a Mailchimp key and its data centre
	if len(s) < number+len(of) {
		return ""
	}
	if len(s) > number+len(of) && s[number:number+len(of)] == of && isHex(s[:number]) && random(s[:number]) {
		return "mailchimp"
	}
	// A bot of Discord: its number, a time and a signature.
	if a, rest, ok := strings.Cut(s, "."); ok && len(a) >= 23 && len(a) <= 28 && strings.IndexByte("MNO", a[0]) >= 0 {
		if b, c, ok := strings.Cut(rest, "."); ok && len(b) == 6 && len(c) >= 27 && len(c) <= 40 && random(a) && random(c) {
			return "discord"
		}
	}
	return ""
}

// azure finds a client secret of Azure: five characters, the last two of which
// are a digit and a Q, a "~" at i, and the rest.
func azure(text string, name run, i int) (Secret, bool) {
	const first = 5
	if i-name.start < first || text[i-1] != 'Q' || text[i-2] < '0' || text[i-2] > '9' {
		return Secret{}, false
	}
	end := i + 1
	for end < len(text) && (runByte[text[end]] || text[end] == '~') {
		end++
	}
	if n := end - i - 1; n < 31 || n > 40 || !random(text[i+1:end]) {
		return Secret{}, false
	}
	return Secret{"azure", i - first, end}, true
}

func isHex(s string) bool {
	return strings.Trim(s, "0123456789abcdef") == ""
}

// random tells a key from a name that happens to begin like one: there are
// digits in it among the letters, and no words of letters only make up most
// of it, as they do in sk-fading-circle-2-loader.
func random(s string) bool {
	digits, letters, wordy, n := 0, 0, 0, 0
	for i := 0; i <= len(s); i++ {
		if i == len(s) || s[i] == '-' || s[i] == '_' || s[i] == '.' {
			if n > 0 && isLowerWord(s[i-n:i]) {
				wordy += n
			}
			n = 0
			continue
		}
		n++
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
		default:
			letters++
		}
	}
	return digits > 0 && letters > 0 && wordy*2 < len(s) && distinct(s) >= 8
}

func isLowerWord(s string) bool {
	return len(s) < 16 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == ""
}

// distinct counts the different characters of s; xxxxxxxx and 0000 are no keys.
func distinct(s string) int {
	var set [256]bool
	n := 0
	for i := range len(s) {
		if !set[s[i]] {
			set[s[i]] = true
			n++
		}
	}
	return n
}
