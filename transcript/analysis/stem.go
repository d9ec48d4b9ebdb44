package analysis

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// stems remembers the terms of words seen lately: a slot a hash, the newer word
// wins. Words follow Zipf's law, so nearly all of a text is found here, without
// a lock.
var (
	stems    [1 << 15]atomic.Pointer[stemmed]
	stemSeed = maphash.MakeSeed()
)

type stemmed struct{ word, term string }

// stem returns the term of a folded word: its base form when English bends it
// irregularly, then its stem. Words with digits or foreign letters stay.
func (a *analyzer) stem(word []byte) string {
	slot := &stems[maphash.Bytes(stemSeed, word)%uint64(len(stems))]
	if s := slot.Load(); s != nil && s.word == string(word) {
		return s.term
	}
	w := string(word)
	s := &stemmed{w, stemWord(w)}
	slot.Store(s)
	return s.term
}

func stemWord(w string) string {
	if len(w) < 3 || !Plain(w) {
		return w
	}
	if base, ok := irregular[w]; ok {
		w = base
	}
	return porter(w)
}

// irregular maps forms that no suffix rule reaches to their base.
var irregular = func() map[string]string {
	m := make(map[string]string)
	for line := range strings.Lines(irregularForms) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		for _, form := range words[1:] {
			m[form] = words[0]
		}
	}
	return m
}()

// irregularForms holds a base and its irregular forms, one verb or noun a line.
const irregularForms = `
be was were been
become became
begin began begun
bend bent
bet betting
bite bit bitten
bleed bled
blow blew blown
break broke broken
breed bred
bring brought
build built
burn burnt
buy bought
catch caught
choose chose chosen
cling clung
come came
creep crept
deal dealt
dig dug
do did done
draw drew drawn
dream dreamt
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
feed fed
feel felt
fight fought
find found
flee fled
fling flung
fly flew flown
forbid forbade forbidden
forget forgot forgotten
forgive forgave forgiven
freeze froze frozen
get got gotten
give gave given
go went gone
grind ground
grow grew grown
hang hung
have had has
hear heard
hide hid hidden
hold held
keep kept
kneel knelt
know knew known
lay laid
lead led
leap leapt
learn learnt
leave left
lend lent
lie lain
light lit
lose lost
make made
mean meant
meet met
mistake mistook mistaken
overcome overcame
overwrite overwrote overwritten
pay paid
plead pled
prove proven
rebuild rebuilt
rerun reran
ride rode ridden
ring rang rung
rise rose risen
run ran
say said
see saw seen
seek sought
sell sold
send sent
sew sewn
shake shook shaken
shine shone
shoot shot
show shown
shrink shrank shrunk
sing sang sung
sink sank sunk
sit sat
sleep slept
slide slid
sneak snuck
sow sown
speak spoke spoken
speed sped
spend spent
spin spun
spring sprang sprung
stand stood
steal stole stolen
stick stuck
sting stung
strike struck stricken
strive strove striven
swear swore sworn
sweep swept
swell swollen
swim swam swum
swing swung
take took taken
teach taught
tear tore torn
tell told
think thought
throw threw thrown
understand understood
undertake undertook undertaken
undo undid undone
unwind unwound
wake woke woken
wear wore worn
weave wove woven
weep wept
win won
withdraw withdrew withdrawn
withhold withheld
withstand withstood
wring wrung
write wrote written
rewrite rewrote rewritten
redo redid redone
resend resent
child children
man men
woman women
foot feet
tooth teeth
goose geese
mouse mice
person people
life lives
wife wives
knife knives
leaf leaves
half halves
shelf shelves
wolf wolves
loaf loaves
thief thieves
index indices
matrix matrices
vertex vertices
appendix appendices
analysis analyses
crisis crises
thesis theses
hypothesis hypotheses
criterion criteria
phenomenon phenomena
medium media
datum data
schema schemata
fungus fungi
cactus cacti
nucleus nuclei
stimulus stimuli
alumnus alumni
`
