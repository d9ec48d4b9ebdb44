package source

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// reports says, of every public report about reading agents' files that is
// known to us (by its number in our list), which test holds the right behaviour:
// a function of this package, of the packages whose folder stands before it, or
// a script.
var reports = map[int]string{
	1:  "TestALogThatWasSpoiledGivesTheSameMessages", // specstoryai/getspecstory#108
	2:  "TestLinesEndAtNewlineOnly",                  // entireio/cli#328
	3:  "TestClaudeMessagesComeOutAsTheyWereSaid",    // mieubrisse/agenc#12
	4:  "TestClaudeMessagesComeOutAsTheyWereSaid",    // phiat/claude-esp#4
	5:  "TestLinesEndAtNewlineOnly",                  // stellarlinkco/myclaude#65
	6:  "TestALineGivesItsValues",                    // anthropics/claude-code#81843
	7:  "TestALogThatWasSpoiledGivesTheSameMessages", // anthropics/claude-code#52387
	8:  "TestACopilotSessionIsReadWhole",             // github/copilot-cli#4098
	9:  "TestClaudeMessagesComeOutAsTheyWereSaid",    // anthropics/claude-code#24663
	10: "TestLinesEndAtNewlineOnly",                  // siteboon/claudecodeui#1002
	11: "TestALineGivesItsValues",                    // huggingface/tau#354
	12: "TestStrangeBytesInATextCostOnlyThemselves",  // delexw/claude-code-trace#88
	13: "TestStrangeBytesInATextCostOnlyThemselves",  // anthropics/claude-code#69927
	14: "TestStrangeBytesInATextCostOnlyThemselves",  // git-ai-project/git-ai#2268
	15: "TestClaudeMessagesComeOutAsTheyWereSaid",    // anthropics/claude-code#5034
	16: "TestClaudeMessagesComeOutAsTheyWereSaid",    // junhoyeo/tokscale#80
	17: "TestClaudeMessagesComeOutAsTheyWereSaid",    // getagentseal/codeburn#201
	18: "TestClaudeMessagesComeOutAsTheyWereSaid",    // xiufengsun/TokenTracker#62: no line of it has a request id
	19: "TestClaudeMessagesComeOutAsTheyWereSaid",    // kunwar-shah/claudex#7
	20: "TestACopiedClaudeHistoryIsStoredOnce",       // anthropics/claude-code#66454
	21: "TestACopiedClaudeHistoryIsStoredOnce",       // Clawdi-AI/clawdi#81
	22: "TestClaudeCompactionFlagsWhatLeftTheContext",
	23: "TestClaudeCompactionFlagsWhatLeftTheContext", // zhukunpenglinyutong/jetbrains-cc-gui#1696
	24: "TestALongSessionIsReadToItsEnd",              // EdanStarfire/claudecode_webui#1747
	25: "TestClaudeSubagentsAreSessionsOfTheirParent", // anthropics/claude-code#35800
	26: "TestClaudeSpilledOutputIsReadFromTheSessionsOwnFolder",
	27: "TestClaudeSubagentsAreSessionsOfTheirParent",          // delexw/claude-code-trace#255
	28: "TestTheProjectComesFromTheLinesNotFromTheFolder",      // anthropics/claude-code#70076
	29: "../TestAVanishedFileIsMarkedAndItsMessagesStay",       // anthropics/claude-code#62476
	30: "TestAFolderThatIsCopiedCutAndLostGivesTheSameArchive", // vshulcz/deja-vu#2971
	31: "../../cmd/hermes-mcp/testdata/script/archive_by_hook.txtar",
	32: "../../cmd/hermes-mcp/testdata/script/hook.txtar",
	33: "TestACodexForkHoldsOnlyItsOwnTurns",             // kenn-io/agentsview#657
	34: "TestACodexForkHoldsOnlyItsOwnTurns",             // chattymin/PokeTokenBar#128
	35: "TestACompressedRolloutGivesTheSameMessages",     // vshulcz/deja-vu#3640
	36: "TestAnExecStreamIsNoRollout",                    // TheGaySupreme123/yoetz#418
	37: "TestACodexThreadIsNamedByItsFirstMetaOrItsFile", // openai/codex#24425
	38: "TestCodexOrdinalsAreNoIdentity",                 // openai/codex#35746
	39: "TestGeminiDocumentsAndCheckpoints",              // farion1231/cc-switch#3145
	40: "TestAGeminiLogIsReplayed",                       // Piebald-AI/splitrail#171
	41: "TestOpenCodeReadsDatabaseAndFolders",            // anomalyco/opencode#13560
	42: "TestDatabasesAreReadAndNeverTouched",            // vshulcz/deja-vu#1642
	43: "TestDatabasesAreReadAndNeverTouched",            // constellation-works/orbit#1901
	44: "TestCursorConversationsComeInTheOrderOfTheirHeaders",
	45: "TestCursorConversationsComeInTheOrderOfTheirHeaders", // manhhailua/lorekeep#14
	46: "TestAVSCodeChatLogIsReplayed",                        // junhoyeo/tokscale#1181
	47: "TestTheFullestFormOfAVSCodeChatIsFound",              // vshulcz/deja-vu#3637
	48: "TestStoresOfSmallerAgents",                           // charmbracelet/crush#3576
	49: "TestWhatAmpKeepsOnItsServerIsNotTakenForNothing",     // kenn-io/agentsview#859
	50: "TestAHermesExportGivesItsSessions",                   // kenn-io/agentsview#1047
	51: "TestClaudeToolResultsKnowTheirCallAndOutcome",        // MemPalace/mempalace#590
	52: "TestAClaudeAIConversation",                           // lugia19/Claude-QoL#43
	53: "TestAChatGPTConversationFollowsItsCurrentNode",       // animalnots/BetterChatGPT-PLUS#53
	54: "../TestAFileThatShrankKeepsWhatWasRead",              // rajudandigam/agent-inspect#299
	55: "TestATornLastLineOfEveryLogWaits",                    // vshulcz/deja-vu#52
}

// numberOfReports is how many there are in our list.
const numberOfReports = 55

func TestEveryReportHasItsTest(t *testing.T) {
	tests := map[string]map[string]bool{}
	for n := 1; n <= numberOfReports; n++ {
		where, ok := reports[n]
		if !ok {
			t.Errorf("report %d has no test", n)
			continue
		}
		if strings.HasSuffix(where, ".txtar") {
			if _, err := os.Stat(filepath.FromSlash(where)); err != nil {
				t.Errorf("report %d: %v", n, err)
			}
			continue
		}
		i := strings.LastIndexByte(where, '/') + 1
		dir, name := filepath.FromSlash("./"+where[:i]), where[i:]
		if tests[dir] == nil {
			tests[dir] = testsIn(t, dir)
		}
		if !tests[dir][name] {
			t.Errorf("report %d: there is no %s in %s", n, name, dir)
		}
	}
}

// testsIn returns the names of the tests of the package in dir.
func testsIn(t *testing.T, dir string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				names[f.Name.Name] = true
			}
		}
	}
	return names
}
