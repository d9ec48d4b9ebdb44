package analysis

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
