package digest

import "strings"

// A toolKind is what a tool does, told by its name.
type toolKind int

const (
	otherTool toolKind = iota
	shellTool
	readTool
	editTool
	createTool
	deleteTool
	patchTool
)

// toolKinds are the names that agents give, in lower case without joints.
var toolKinds = map[string]toolKind{
	"bash": shellTool, "shell": shellTool, "sh": shellTool, "terminal": shellTool, "exec": shellTool, "execcommand": shellTool,
	"localshell": shellTool, "localshellcall": shellTool, "runterminalcmd": shellTool, "runterminalcommand": shellTool, "runterminalcommandv2": shellTool,
	"runshellcommand": shellTool, "executecommand": shellTool, "execute": shellTool, "runinterminal": shellTool, "shellcommand": shellTool,
	"containerexec": shellTool, "executebash": shellTool, "runcommand": shellTool, "powershell": shellTool, "developershell": shellTool,
	"usershell": shellTool, "runbash": shellTool, "cmd": shellTool, "command": shellTool,

	"read": readTool, "readfile": readTool, "readfilev2": readTool, "view": readTool, "viewfile": readTool, "readmanyfiles": readTool, "openfile": readTool,
	"cat": readTool, "notebookread": readTool, "copilotreadfile": readTool, "fsread": readTool, "readnotebook": readTool,

	"edit": editTool, "multiedit": editTool, "editfile": editTool, "editfilev2": editTool, "strreplace": editTool, "strreplaceeditor": editTool,
	"replace": editTool, "searchreplace": editTool, "searchandreplace": editTool, "replaceinfile": editTool, "replacestringinfile": editTool,
	"multireplacestringinfile": editTool, "inserteditintofile": editTool, "insertcontent": editTool, "applydiff": editTool, "notebookedit": editTool,
	"editnotebook": editTool, "editnotebookfile": editTool, "update": editTool, "replacefilecontent": editTool, "multireplacefilecontent": editTool,
	"patch": editTool, "texteditor": editTool, "copilotreplacestring": editTool, "copilotinsertedit": editTool, "insert": editTool,

	"write": createTool, "writefile": createTool, "createfile": createTool, "writetofile": createTool, "create": createTool, "newfile": createTool,
	"copilotcreatefile": createTool, "savefile": createTool, "fswrite": createTool,

	"deletefile": deleteTool, "delete": deleteTool, "removefile": deleteTool, "rm": deleteTool,

	"applypatch": patchTool, "copilotapplypatch": patchTool,
}

// kindOf tells what a tool does. A tool of an MCP server is told by its own
// name, without the server's.
func kindOf(name string) toolKind {
	n := strings.ToLower(name)
	if strings.HasPrefix(n, "mcp__") {
		n = n[strings.LastIndex(n, "__")+2:]
	}
	n = strings.NewReplacer("_", "", "-", "", ".", "", "/", "", " ", "").Replace(n)
	if k, ok := toolKinds[n]; ok {
		return k
	}
	for _, server := range []string{"functions", "developer", "filesystem", "desktopcommander", "builtin"} {
		if rest, ok := strings.CutPrefix(n, server); ok {
			return toolKinds[rest]
		}
	}
	return otherTool
}
