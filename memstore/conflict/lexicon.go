package conflict

import (
	"strings"
	"unicode/utf8"
)

func list(words string) set {
	s := set{}
	for w := range strings.FieldsSeq(words) {
		s[w] = true
	}
	return s
}

func stems(words string) set {
	s := set{}
	for w := range strings.FieldsSeq(words) {
		s[stem(w)] = true
	}
	return s
}

var (
	denials   = list(`not no never don't avoid stop nobody none neither nor forbidden stopped avoids`)
	opposites = stems(`hate dislike refuse reject`)
	additions = list(`also additionally too both another again besides plus`)
	manyVerbs = stems(`like know learn speak drink eat enjoy support own have visit read play love hate dislike`)
	actions   = stems(`drink eat speak play visit`) // which of them say something by themselves
	moves     = stems(`move switch migrate change port`)
	places    = stems(`live located based kept keep store stored hosted host deployed`)
	copulas   = list(`is are was were be = : ： called named`)
	// prepositions lead to a place.
	prepositions = list(`in on at to under`)
	// numbered things carry a number as part of their name.
	numbered = stems(`ticket issue pr step item chapter phase room fact task bug case question line number part round sprint milestone level`)
	units    = stems(`column character char space day hour minute second week month year gb mb kb tb ms s min h percent times core thread worker replica retry attempt eur usd km kg 天 小时 分钟 秒 周 月 年 列 个 次`)
	// nouns have one value each.
	nouns = stems(`name timezone password email birthday address branch url path deadline owner manager lead boss wife husband partner editor framework host hostname region city country version title nickname pronoun employer company job role maintainer reviewer registry endpoint database remote origin`)
	// filling says nothing about what a statement is about.
	filling = stems(`the a an this that these those it its his her their our my your i we he she they you user project team codebase repo repository app
		is are was were be been being has had do does did done kept will would shall should may might must can could need needs want wants
		use uses using used prefer prefers choose chose work works run runs running make makes write writes written keep set sets get gets go goes put
		take takes live lives listen listens move moved switch switched migrate migrated change changed
		of in on at to for from by with into as and or but if than then so when while since until after before
		always usually normally currently now already still only just every each all any some here there very really please
		over under via per about = : ： mode theme style`)
	// contrasts are groups of words that stand for different things.
	contrasts = []set{
		stems(`production prod staging test dev development local ci qa sandbox demo`),
		stems(`frontend backend client server api ui mobile web worker database cache metrics`),
		stems(`work home office laptop desktop phone private personal`),
		stems(`weekday weekend morning evening night summer winter`),
		stems(`first second third primary secondary replica old new legacy next previous`),
		stems(`master main feature release hotfix`),
		stems(`docker apt podman kubernetes npm pip`),
	}
	// exclusive slots exclude each other whatever the verb.
	exclusive   = list(`state length theme indent quotes casing merging unitsystem`)
	strictSlots = []string{"at", "path", "url", "email"}
)

// slots maps a word to "<kind of value> <value>"; two values of one kind
// exclude each other.
var slots = byValue(map[string]string{
	"database":   "postgres/postgresql/pg mysql mariadb sqlite/sqlite3 mongodb/mongo oracle mssql cassandra cockroachdb dynamodb",
	"cachedb":    "redis memcached valkey",
	"language":   "golang/go python rust typescript/ts javascript/js java kotlin ruby php c++ c# scala elixir haskell swift zig perl",
	"runtime":    "node/node.js/nodejs deno bun",
	"jspackages": "npm yarn pnpm",
	"pypackages": "pip poetry uv conda pipenv",
	"editor":     "vim neovim/nvim emacs vscode zed sublime helix intellij",
	"shell":      "bash zsh fish powershell",
	"os":         "debian ubuntu fedora arch alpine centos rhel nixos macos windows freebsd",
	"cloud":      "aws azure gcp hetzner digitalocean heroku vercel netlify",
	"ui":         "react vue svelte angular solidjs",
	"pytests":    "pytest unittest nose",
	"jstests":    "jest vitest mocha",
	"ci":         "github-actions gitlab-ci jenkins circleci travis",
	"forge":      "github gitlab bitbucket gitea codeberg",
	"containers": "podman",
	"secrets":    "vault 1password bitwarden lastpass keepass",
	"indent":     "tab/tabs/制表符 space/spaces/空格",
	"quotes":     "single-quotes double-quotes",
	"theme":      "dark/深色/暗色 light/浅色/亮色",
	"casing":     "camelcase snake_case/snake-case kebab-case pascalcase",
	"length":     "long/detailed/verbose/详细 short/brief/concise/terse/简短/简洁",
	"state":      "enabled/enable/启用/开启/打开 disabled/disable/off/禁用/关闭",
	"access":     "public/公开 private/私有",
	"speech":     "english/英文/英语 german/deutsch/德语 chinese/中文/汉语 french/法语 spanish/西班牙语 japanese/日语 italian portuguese russian/俄语 korean/韩语 dutch polish",
	"weekday":    "monday/周一 tuesday/周二 wednesday/周三 thursday/周四 friday/周五 saturday/周六 sunday/周日",
	"days":       "weekday/weekdays/工作日 weekend/weekends/周末",
	"month":      "january february april june july august september october november december",
	"license":    "mit apache-2.0 gpl bsd mpl agpl",
	"merging":    "squash rebase merge-commit",
	"unitsystem": "metric imperial celsius fahrenheit",
})

func byValue(groups map[string]string) map[string]string {
	m := make(map[string]string)
	for slot, values := range groups {
		for v := range strings.FieldsSeq(values) {
			words := strings.Split(v, "/")
			for _, w := range words {
				m[w] = slot + " " + words[0]
			}
		}
	}
	return m
}

// numerals are numbers written out. One is left out: it is an article too, and in
// Chinese a part of many words; so are in Chinese those above ten.
var numerals = map[string]string{
	"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10", "twelve": "12", "twenty": "20",
	"两": "2", "二": "2", "三": "3", "四": "4", "五": "5", "六": "6", "七": "7", "八": "8", "九": "9", "十": "10",
}

// phrases are two words that mean one thing.
var phrases = map[string]string{
	"github actions": "github-actions", "gitlab ci": "gitlab-ci", "travis ci": "travis", "vs code": "vscode",
	"single quotes": "single-quotes", "double quotes": "double-quotes", "snake case": "snake_case", "camel case": "camelcase",
	"instead of": "@instead", "rather than": "@instead", "no longer": "not", "turned on": "enabled", "turned off": "disabled",
	"switched on": "enabled", "switched off": "disabled", "force push": "force-push", "sql server": "mssql", "merge commits": "merge-commit",
}

// han maps Chinese words to ours; what maps to nothing is filling.
var han = hanWords(map[string]string{
	"not": "不 没 没有 不要 不用 不再 不能 别 勿 禁止 从不 无需 避免 不会 不得", "hate": "讨厌 反感",
	"use": "使用 采用 用", "": "的 了 是否 在 用户 项目 我们 我 他 她 已 已经 会 可以 需要 必须 应该 时 时候 写 编写 每 做 作 进行 模式 主题 总是 现在 目前 都 把 将 和 与 团队 偏好 希望 上",
	"like": "喜欢 喜爱", "know": "懂 了解 会写 会用 会说 擅长 熟悉", "drink": "喝", "eat": "吃", "is": "是 为", "called": "叫 名叫 叫做", "also": "也 还 另外",
	"@livesin": "住在 居住在 位于 存放在 保存在 部署在 放在", "@instead": "而不是 而非",
	"port": "端口", "server": "服务器 服务端", "database": "数据库", "cache": "缓存", "test": "测试", "production": "生产 线上", "staging": "预发布",
	"development": "开发", "environment": "环境", "frontend": "前端", "backend": "后端", "client": "客户端", "log": "日志", "backup": "备份",
	"name": "名字 姓名", "timezone": "时区", "password": "密码", "email": "邮箱 邮件地址", "birthday": "生日", "address": "地址", "branch": "分支",
	"version": "版本", "deadline": "截止日期", "owner": "负责人", "manager": "经理", "editor": "编辑器", "framework": "框架", "host": "主机 域名",
	"city": "城市", "company": "公司", "default": "默认", "document": "文档", "code": "代码", "comment": "注释", "indent": "缩进",
	"main branch": "主分支", "feature branch": "功能分支", "force-push": "强制推送 强推", "commit message": "提交信息", "explain": "解释 说明",
	"answer": "回答 回复", "meet": "开会 会议", "keep": "保留 保存", "directory": "目录",
	"monday": "周一 星期一", "tuesday": "周二 星期二", "wednesday": "周三 星期三", "thursday": "周四 星期四", "friday": "周五 星期五",
	"saturday": "周六 星期六", "sunday": "周日 星期日 星期天",
})

func hanWords(groups map[string]string) map[string]string {
	m := make(map[string]string)
	for w, words := range groups {
		for h := range strings.FieldsSeq(words) {
			m[h] = w
		}
	}
	for w := range slots { // values that are written in Chinese
		if w[0] >= utf8.RuneSelf {
			m[w] = w
		}
	}
	for w := range units {
		if w[0] >= utf8.RuneSelf {
			m[w] = w
		}
	}
	return m
}

var longestHan = func() int {
	n := 0
	for w := range han {
		n = max(n, utf8.RuneCountInString(w))
	}
	return n
}()
