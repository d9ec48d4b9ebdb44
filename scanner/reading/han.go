package reading

import "sync"

// simplified maps the traditional forms of ideographs to the simplified ones,
// as far as the words that rules look for need it.
var simplified = sync.OnceValue(func() map[rune]rune {
	const pairs = "規规則则詞词統统後后從从請请讓让們们將将發发給给號号鑰钥憑凭證证碼码傳传數数據据執执會会話话訴诉開开閉闭關关對对現现為为" +
		"無无過过這这個个須须應应該该記记憶忆設设計计許许說说歷历權权網网頁页連连鏈链結结檔档視视環环變变貼贴錄录買买賣卖險险帳账" +
		"戶户轉转匯汇總总還还聽听務务項项當当時时間间獲获讀读寫写刪删備备復复檢检測测試试驗验認认準准隱隐瞞瞒祕秘裡里裏里內内並并" +
		"產产銀银資资訊讯訓训練练點点達达動动進进運运處处機机構构來来約约業业員员優优級级衛卫擁拥護护雲云臺台灣湾與与報报導导圖图" +
		"單单標标簽签題题覆复蓋盖繞绕審审駭骇殺杀軟软牆墙條条責责財财錢钱價价値值僅仅衹只"
	m := map[rune]rune{}
	rs := []rune(pairs)
	for i := 0; i+1 < len(rs); i += 2 {
		m[rs[i]] = rs[i+1]
	}
	return m
})
