/** Names of tools and parameters that models were trained on, and what they mean here. */

/** Tool → what it is called elsewhere, in lower case and without `_`, `-` and a final `tool`. */
const TOOLS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    Read:
      "readfile readtextfile readfiles readfilecontents getfilecontents getfile openfile viewfile showfile catfile " +
      "view open cat fileread listdir listdirectory listfiles listfolder ls list dir viewdirectory",
    Write:
      "writefile writetofile writetextfile createfile newfile savefile filewrite create createnewfile overwritefile",
    Edit: "strreplace strreplaceeditor strreplacebasededit stringreplace replacestring replacestringinfile editfile " +
      "fileedit replace replaceinfile replacefilecontent searchreplace searchandreplace findandreplace multiedit " +
      "multireplacestringinfile modifyfile updatefile applypatch applydiff patch editor texteditor",
    Glob: "globfiles globsearch fileglob fileglobsearch findfiles findfile findbyname filesearch searchfilesbyname",
    Grep: "grepsearch ripgrep rg search searchfiles searchfilecontent searchfilecontents searchcode searchtext " +
      "textsearch searchinfiles findinfiles",
    Bash:
      "shell runshellcommand shellcommand executecommand execcommand runcommand runterminalcmd runterminalcommand " +
      "runinterminal terminal exec execute executebash executeshell executeshellcommand runbash runshell sh cmd " +
      "commandline localshell bashcommand console zsh",
    TodoWrite: "writetodos updatetodos todos todo todolist updatetodolist managetodolist",
  }).map(([tool, names]) => [tool, names.split(" ")]),
);

const BY_NAME: ReadonlyMap<string, string> = new Map(
  [...TOOLS].flatMap(([tool, names]) => [tool.toLowerCase(), ...names].map((name) => [name, tool])),
);

/** Without the namespace that some models put before it, and as in {@link TOOLS}. */
export function plainToolName(name: string): string {
  const bare = name.slice(Math.max(name.lastIndexOf("."), name.lastIndexOf(":"), name.lastIndexOf("/")) + 1);
  return bare.toLowerCase().replace(/[\s_-]+/g, "").replace(/(?<=.)tool$/, "");
}

/** Whether models call a tool by this name, here or elsewhere. */
export function isToolName(name: string): boolean {
  return BY_NAME.has(plainToolName(name));
}

/**
 * The declared tool that is meant by a name: itself, the same in another spelling, or what the name means elsewhere.
 * Null where none is, and where two are.
 */
export function meantTool(name: string, declared: readonly string[]): string | null {
  if (declared.includes(name)) return name;
  // Tools of other servers have names of their own.
  if (name.length > 128 || name.startsWith("mcp__")) return null;
  return meantPlainly(name, declared) ?? meantPlainly(name.replace(BEHIND, ""), declared);
}

/** Finds what models write after a name: a number of the call or a version, parentheses, a token of their template. */
const BEHIND = /(?:[:#]\d+|[-_ ]?v?\d+(?:\.\d+)*|<[|｜][^]*|\([^]*\)?)$/;

function meantPlainly(name: string, declared: readonly string[]): string | null {
  const plain = plainToolName(name);
  const [spelled, second] = declared.filter((one) => plainToolName(one) === plain);
  if (spelled !== undefined) return second === undefined ? spelled : null;
  const meant = BY_NAME.get(plain);
  return meant !== undefined && declared.includes(meant) ? meant : null;
}

/**
 * What parameters are called elsewhere: the ones that are meant, tried in this order, → the other names. Only where the
 * name itself is free, declared, and not given. Other spellings of one name (`filePath`, `old-string`) are recognized
 * without an entry.
 */
const PARAMETERS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    file_path: "path filename file_name filepath target_file paths file_paths files",
    "file_path path": "file absolute_path relative_path relative_workspace_path",
    path: "file_path",
    "path file_path": "dir directory dir_path directory_path target_directory folder",
    command: "cmd script bash_command",
    pattern: "regex query search_pattern search_term",
    "pattern glob": "glob_pattern",
    glob: "include include_pattern file_pattern",
    content: "contents text data body file_text file_content",
    "content new_string": "new_content",
    old_string: "old_str old_text old search_string find search_text before old_code target_content original " +
      "original_text old_content",
    "old_string pattern": "search",
    replace_all: "allow_multiple all_occurrences",
    "old_string start_line offset": "from",
    new_string: "new_str new_text new replace replace_text after new_code replacement_content replacement " +
      "replace_string updated",
    "new_string end_line": "to",
    "start_line offset": "start line_start",
    offset: "start_line line_offset",
    end_line: "end line_end",
    limit: "num_lines line_count max_lines",
  }).flatMap(([meant, names]) => names.split(" ").map((name) => [name, meant.split(" ")])),
);

/** The declared parameter that is meant by a name; null for none. */
export function meantParameter(name: string, declared: Readonly<Record<string, unknown>>): string | null {
  if (Object.hasOwn(declared, name)) return name;
  const bare = name.replace(/^[\s"'`*]+|(?<![\s"'`*:=])[\s"'`*:=]+$/g, "");
  const plain = bare.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replace(/[\s-]+/g, "_").toLowerCase();
  if (Object.hasOwn(declared, plain)) return plain;
  return PARAMETERS.get(plain)?.find((one) => Object.hasOwn(declared, one)) ?? null;
}
