package provider

import (
	"strings"
	"unicode"
)

// small are the prompts that say nothing to recall for, without the
// punctuation around them.
var small = func() map[string]bool {
	set := map[string]bool{}
	for _, p := range []string{
		"y", "yes", "yep", "yeah", "sure", "ok", "okay", "k", "n", "no", "nope", "nah",
		"hi", "hey", "hello", "yo", "sup", "thanks", "thank you", "thx", "ty",
		"continue", "go on", "go ahead", "do it", "proceed", "next", "done", "again", "got it",
		"cool", "nice", "great", "perfect", "lgtm",
		"好", "好的", "好吧", "行", "可以", "对", "对的", "是", "是的", "嗯", "不", "不是", "不用", "没有",
		"你好", "您好", "谢谢", "多谢", "继续", "下一步", "收到", "明白", "知道了", "没问题",
		"はい", "いいえ", "ありがとう", "続けて", "네", "예", "아니요", "감사합니다", "계속",
	} {
		set[p] = true
	}
	return set
}()

// trivial tells whether a prompt is not worth a recall: blank, a command to
// the agent, or one of the words above and nothing else.
func trivial(prompt string) bool {
	prompt = strings.TrimSpace(prompt)
	if command(prompt) {
		return true
	}
	prompt = strings.TrimRightFunc(prompt, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	return prompt == "" || small[strings.Join(strings.Fields(strings.ToLower(prompt)), " ")]
}

// command tells a slash command from a path.
func command(prompt string) bool {
	name, ok := strings.CutPrefix(prompt, "/")
	if !ok {
		return false
	}
	name, _, _ = strings.Cut(name, " ")
	return !strings.Contains(name, "/")
}
