package analysis

import "strings"

// BackgroundTurns is how many turns of common English [Background] speaks of.
const BackgroundTurns = 1000

// Background returns in how many of [BackgroundTurns] turns of common English a
// term stands. It keeps a small archive from taking "go" or "week" for a rare
// word because it happens to hold few of them. Terms that are not common
// English are in none.
func Background(term string) float64 { return background[term] }

var background = func() map[string]float64 {
	m := make(map[string]float64)
	for line := range strings.Lines(commonWords) {
		share, words, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		var n float64
		for _, c := range strings.TrimSpace(share) {
			n = n*10 + float64(c-'0')
		}
		for _, w := range strings.Fields(words) {
			if s := stemWord(w); m[s] < n {
				m[s] = n
			}
		}
	}
	return m
}()

// commonWords lists common words by the turns of a thousand that hold them.
// Estimates by their rank in everyday English; halving or doubling a line moves
// no result.
const commonWords = `
400: say
220: make go time see take get know come year think day give use find man person people like
120: good new first want way look work thing long great little need feel become leave tell call ask seem
120: try back well now last
110: old life world hand part place case week right high small large big next early young important
110: different own bad same able start show hear play run move live believe hold bring happen begin keep
110: let help talk turn put mean many much really lot home house family friend
60: night morning today water room area money story fact month point number group problem woman child
60: boy girl mother father name word side head eye face door line end kind question book idea job
60: business company system program school student country state city service government power hour game
60: law body information level office health art war history party result change reason research moment
60: air teacher force education set meet include continue learn lead understand watch follow stop create
60: speak read allow add spend grow open walk win offer remember love consider appear buy wait serve die
60: send expect build stay fall cut reach kill remain plan enjoy visit share enough far yet best better
60: sure full special free clear recent certain personal hard main possible real strong whole true low
60: late general common nice happy favorite
30: suggest raise pass sell require report decide pull return explain hope develop carry break receive
30: agree support hit produce eat cover catch draw choose cause listen realize step value food car form
30: music age policy process market sense death experience community color team minute effort interest
30: order figure street image phone data picture practice piece land product doctor wall patient worker
30: news test movie north south east west letter space church mind voice society college position
30: behavior son daughter husband wife parent sister brother class window bed table paper film hair
30: heart dog cat summer winter spring season weekend evening afternoon birthday trip holiday vacation
30: travel drive train dinner lunch breakfast black white red blue green dark cold hot warm single short
30: beautiful wonderful amazing interesting exciting excited fun cool ready sorry glad easy difficult
30: simple nothing something anything everything somebody someone anyone everyone maybe perhaps almost
30: often sometimes usually together around away since ago already soon later quickly finally especially
30: exactly actually probably two three four five six seven eight nine ten one second third half hundred
30: thousand million write sit stand lose pay close provide save join finish check fix pick bit bunch
30: couple
15: accept prepare reduce discuss describe teach improve avoid imagine manage wish protect express
15: control treat affect identify represent apply occur recognize indicate compare involve relate wonder
15: laugh smile cry sing dance paint cook bake drink wear clean wash fill throw drop push fly sleep wake
15: dream rest exercise climb swim ride hike camp shop deliver cost price worth gift card ticket bag box
15: bottle cup glass plate chair floor kitchen garden tree flower park beach mountain river lake sea
15: island road bridge store restaurant hotel bank hospital museum library station airport center garage
15: yard roof corner middle top bottom front inside outside near past future present detail example type
15: size amount rate list note activity event project task goal challenge opportunity chance choice
15: decision advice tip skill ability knowledge memory feeling attention energy strength success failure
15: mistake trouble issue concern danger risk safety peace luck joy pride courage kid baby adult
15: neighbor guest member owner partner boss colleague artist writer player coach nurse officer leader
15: guy lady folk crowd audience nature animal bird horse fish plant weather rain snow sun sky star moon
15: fire earth stone wood metal gold silver sunday monday tuesday wednesday thursday friday saturday
15: january february april june july august september october november december tonight tomorrow
15: yesterday daily weekly medical physical social public national local international natural human
15: similar available popular serious final perfect lovely gorgeous delicious fantastic awesome
15: incredible proud file code error page button email message video photo computer screen link website
15: account user server version update request response function string object method command`
