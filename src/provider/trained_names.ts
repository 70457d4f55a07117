/** Names of tools and parameters that models were trained on, and the ones that they mean here. */

/** Tool → what it is called elsewhere, in lower case and without `_`, `-` and a final `tool`. */
const TOOLS: Readonly<Record<string, readonly string[]>> = {
  Read: [
    ..."readfile readtextfile readfiles readfilecontents getfilecontents getfile openfile viewfile showfile catfile"
      .split(" "),
    ..."view open cat fileread listdir listdirectory listfiles listfolder ls list dir viewdirectory".split(" "),
  ],
  Write: "writefile writetofile writetextfile createfile newfile savefile filewrite create createnewfile overwritefile"
    .split(" "),
  Edit: [
    ..."strreplace strreplaceeditor strreplacebasededit stringreplace replacestring replacestringinfile".split(" "),
    ..."editfile fileedit replace replaceinfile replacefilecontent searchreplace searchandreplace findandreplace multiedit"
      .split(" "),
    ..."multireplacestringinfile modifyfile updatefile applypatch applydiff patch editor texteditor".split(" "),
  ],
  Glob: "globfiles globsearch fileglob fileglobsearch findfiles findfile findbyname filesearch searchfilesbyname".split(
    " ",
  ),
  Grep:
    "grepsearch ripgrep rg search searchfiles searchfilecontent searchfilecontents searchcode searchtext textsearch searchinfiles findinfiles"
      .split(" "),
  Bash: [
    ..."shell runshellcommand shellcommand executecommand execcommand runcommand runterminalcmd runterminalcommand"
      .split(" "),
    ..."runinterminal terminal exec execute executebash executeshell executeshellcommand runbash runshell sh cmd".split(
      " ",
    ),
    ..."commandline localshell bashcommand console zsh".split(" "),
  ],
  TodoWrite: "writetodos updatetodos todos todo todolist updatetodolist managetodolist".split(" "),
};

const BY_NAME: ReadonlyMap<string, string> = new Map(
  Object.entries(TOOLS).flatMap(([tool, names]) => names.map((name) => [name, tool])),
);

/** Without the namespace that some models put before it, and as in {@link TOOLS}. */
export function plainToolName(name: string): string {
  const bare = name.slice(Math.max(name.lastIndexOf("."), name.lastIndexOf(":"), name.lastIndexOf("/")) + 1);
  return bare.toLowerCase().replace(/[\s_-]+/g, "").replace(/(?<=.)tool$/, "");
}

/** Whether models call a tool by this name, here or elsewhere. */
export function isToolName(name: string): boolean {
  const plain = plainToolName(name);
  return BY_NAME.has(plain) || Object.keys(TOOLS).some((tool) => tool.toLowerCase() === plain);
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

/** Finds what models write behind a name: a number of the call or a version, parentheses, a token of their template. */
const BEHIND = /(?:[:#]\d+|[-_ ]?v?\d+(?:\.\d+)*|<[|｜][^]*|\([^]*\)?)$/;

function meantPlainly(name: string, declared: readonly string[]): string | null {
  const plain = plainToolName(name);
  const [spelled, second] = declared.filter((one) => plainToolName(one) === plain);
  if (spelled !== undefined) return second === undefined ? spelled : null;
  const meant = BY_NAME.get(plain);
  return meant !== undefined && declared.includes(meant) ? meant : null;
}

/**
 * Names that models give to a parameter of another name, tried in this order when the name itself is free, declared,
 * and not given. Other spellings of one name (`filePath`, `old-string`) are recognized without an entry.
 */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  path: ["file_path"],
  file: ["file_path", "path"],
  filename: ["file_path"],
  file_name: ["file_path"],
  filepath: ["file_path"],
  absolute_path: ["file_path", "path"],
  target_file: ["file_path"],
  file_path: ["path"],
  paths: ["file_path"],
  file_paths: ["file_path"],
  files: ["file_path"],
  relative_path: ["file_path", "path"],
  relative_workspace_path: ["file_path", "path"],
  dir: ["path", "file_path"],
  directory: ["path", "file_path"],
  dir_path: ["path", "file_path"],
  directory_path: ["path", "file_path"],
  target_directory: ["path", "file_path"],
  folder: ["path", "file_path"],
  cmd: ["command"],
  script: ["command"],
  bash_command: ["command"],
  regex: ["pattern"],
  query: ["pattern"],
  search_pattern: ["pattern"],
  search_term: ["pattern"],
  glob_pattern: ["pattern", "glob"],
  include: ["glob"],
  include_pattern: ["glob"],
  file_pattern: ["glob"],
  contents: ["content"],
  text: ["content"],
  data: ["content"],
  body: ["content"],
  file_text: ["content"],
  file_content: ["content"],
  new_content: ["content", "new_string"],
  old_str: ["old_string"],
  old_text: ["old_string"],
  old: ["old_string"],
  search: ["old_string", "pattern"],
  allow_multiple: ["replace_all"],
  all_occurrences: ["replace_all"],
  search_string: ["old_string"],
  find: ["old_string"],
  search_text: ["old_string"],
  before: ["old_string"],
  from: ["old_string", "start_line", "offset"],
  old_code: ["old_string"],
  target_content: ["old_string"],
  original: ["old_string"],
  original_text: ["old_string"],
  old_content: ["old_string"],
  new_str: ["new_string"],
  new_text: ["new_string"],
  new: ["new_string"],
  replace: ["new_string"],
  replace_text: ["new_string"],
  after: ["new_string"],
  to: ["new_string", "end_line"],
  new_code: ["new_string"],
  replacement_content: ["new_string"],
  replacement: ["new_string"],
  replace_string: ["new_string"],
  updated: ["new_string"],
  start: ["start_line", "offset"],
  line_start: ["start_line", "offset"],
  start_line: ["offset"],
  line_offset: ["offset"],
  end: ["end_line"],
  line_end: ["end_line"],
  num_lines: ["limit"],
  line_count: ["limit"],
  max_lines: ["limit"],
};

/** The declared parameter that is meant by a name; null for none. */
export function meantParameter(name: string, declared: Readonly<Record<string, unknown>>): string | null {
  if (Object.hasOwn(declared, name)) return name;
  const bare = name.replace(/^[\s"'`*]+|[\s"'`*:=]+$/g, "");
  const plain = bare.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replace(/[\s-]+/g, "_").toLowerCase();
  if (Object.hasOwn(declared, plain)) return plain;
  const meant = Object.hasOwn(PARAMETERS, plain) ? PARAMETERS[plain] ?? [] : [];
  return meant.find((one) => Object.hasOwn(declared, one)) ?? null;
}
