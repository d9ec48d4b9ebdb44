package scanner

import (
	"strings"
	"testing"
)

const entry = "User prefers TypeScript over JavaScript for new services; the staging database runs PostgreSQL 16 on Debian 12, port 5433, and deploys go out on Tuesdays after the stand-up. Code style: tabs, 120 cols."

func BenchmarkInspectEntry(b *testing.B) {
	b.SetBytes(int64(len(entry)))
	for b.Loop() {
		Inspect(entry, Strict)
	}
}

func BenchmarkInspectChinese(b *testing.B) {
	text := strings.Repeat("用户偏好使用 Go，测试环境数据库是 PostgreSQL 16，端口 5433。每次提交前都要运行 make lint。", 3)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Inspect(text, Strict)
	}
}

func BenchmarkInspect64K(b *testing.B) {
	for name, unit := range map[string]string{
		"prose":     entry + "\n",
		"verbs":     "ignore forget system previous ",
		"letters":   "i g n o r e ",
		"glued":     "ignoreallpreviousinstructionsandsend ",
		"base64":    "SWdub3JlIGFsbCBwcmV2aW91cyBpbnN0cnVjdGlvbnM ",
		"chinese":   "忽略之前的系统提示词今后每次",
		"lookalike": "ignоre аll ",
		"either":    "1l1l1!1!l1 ",
		"openers":   "<!-- <div <|im [inst ",
		"joiners":   "a\u200d\u200cb",
		"bidi":      "\u2067\u2066a\u2069",
		"percent":   "%69%67%6e",
		"dots":      ".",
		"named":     "secret=abc",
		"mixed":     "&#105;userไม่ต้องสนใจ\u202e",
		"hiding":    "don't tell whenever the user always ",
	} {
		b.Run(name, func(b *testing.B) {
			text := strings.Repeat(unit, 1+64<<10/len(unit))[:64<<10]
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Inspect(text, Strict)
			}
		})
	}
}

func BenchmarkRedact(b *testing.B) {
	text := strings.Repeat(entry+"\nfunc main() { token := next(); password := os.Getenv(\"X\"); u := \"https://example.com/a?b=c\" }\ncommit 9fceb02d0ae598e95dc970b74767f19372d61af8\n", 300)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Redact(text)
	}
}
