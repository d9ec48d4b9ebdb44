package analysis

import "strings"

// Stop tells whether a word, in lower case, says nothing about what a question
// asks for.
func Stop(word string) bool { return stopWords[word] }

var stopWords = wordSet(stopWordList)

const stopWordList = `
a an the this that these those such
i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves
who whom whose which what when where why how
am is are was were be been being do does did doing done have has had having
can could will would shall should may might must ought
and or but nor so yet if then else than as because while until unless though although whether
of in on at by for from to into onto with without within about against between among through
during before after above below over under up down out off again further once
here there all any both each few more most other others some no not only own same too very
just also ever never always still even
s t d m ll re ve don didn doesn isn aren wasn weren won wouldn couldn shouldn hasn haven hadn ain
please tell let lets get got many much
`

// Vague tells whether a text asks for nothing but that something was done: it
// holds stop words, and words such as "work", "happened" or 做了什么.
func Vague(text string) bool {
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return classify(r) == 0 }) {
		if Stop(w) || vagueWords[w] {
			continue
		}
		for _, r := range w {
			if !strings.ContainsRune(vagueRunes, r) {
				return false
			}
		}
	}
	return true
}

var vagueWords = wordSet(`work worked working happen happened happening session sessions conversation conversations
	chat chats discuss discussed talk talked show list find search see look start started make made thing things stuff
	something anything everything ours yes ok
	haben wir was gemacht getan ist passiert qu est ce que nous avons fait que hicimos`)

// vagueRunes are the characters of 我们做了什么, 都聊过哪些 and the like.
const vagueRunes = "我们我們你您他她的了吗嗎呢啊什么甚麼做干幹些事情聊过過说說哪在都有是会會话話记录記錄列出看の何をしたか"
