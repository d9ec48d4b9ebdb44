package property

import "testing"

func TestPropertiesOfKnownCharacters(t *testing.T) {
	for name, c := range map[string]struct{ got, want bool }{
		"a zero width space is invisible":        {Invisible('\u200b'), true},
		"a tag character is invisible":           {Invisible('\U000E0041'), true},
		"an escape is invisible":                 {Invisible('\x1b'), true},
		"a line break is not":                    {Invisible('\n'), false},
		"an Arabic number sign shows":            {Invisible('\u0600'), false},
		"a hieroglyph joiner shows":              {Invisible('\U00013430'), false},
		"an ideograph shows":                     {Invisible('中'), false},
		"a woman is a pictograph":                {Pictograph('👩'), true},
		"an emoji to come is a pictograph":       {Pictograph('\U0001FAFF'), true},
		"a digit is none":                        {Pictograph('1'), false},
		"a Persian letter joins":                 {Joins('ی'), true},
		"a Malayalam letter joins":               {Joins('ക'), true},
		"a Latin letter does not":                {Joins('a'), false},
		"a Khmer letter marks words":             {MarksWords('ក'), true},
		"kana is written without spaces":         {Unspaced('か'), true},
		"Hangul is not":                          {Unspaced('한'), false},
		"a Hebrew letter runs right to left":     {RightToLeft('א'), true},
		"a Cyrillic letter does not":             {RightToLeft('я'), false},
		"a Cyrillic a looks Latin":               {Lookalike('а') == "a", true},
		"a capital Greek Nu looks like an N":     {Lookalike('Ν') == "n", true},
		"a small Greek nu looks like a v":        {Lookalike('ν') == "v", true},
		"a small capital looks like its capital": {Lookalike('ɢ') == "g", true},
		"an ideograph looks like nothing else":   {Lookalike('中') == "", true},
	} {
		t.Run(name, func(t *testing.T) {
			if c.got != c.want {
				t.Errorf("got %v", c.got)
			}
		})
	}
}
