/**
 * Programs that do more than their name says when they get certain arguments: start others, write files. A prefix rule
 * (`Bash(git log:*)`) does not cover a command that uses one of them. The table is not complete and cannot be: it holds
 * the programs that people allow by prefix. Source: threat 115 and the manuals of the programs.
 */

interface Escape {
  /** Long options without dashes. Any unique beginning of one counts too, as these programs accept that. */
  long?: readonly string[];
  /** Letters of short options, also inside a cluster (`-uo`). */
  short?: string;
  words?: readonly string[];
  /** Most words that are not options; a further one is a file that gets written. */
  operands?: number;
  /** A further look at the arguments after the prefix, and at the whole command. */
  also?(rest: readonly string[], argv: readonly string[]): boolean;
}

const LIST = (text: string): string[] => text.split(" ");

/** Programs whose arguments are a program, or a script of their own: never covered by a prefix. */
const RUNNERS: ReadonlySet<string> = new Set(LIST(
  "env xargs sudo doas su runuser pkexec nohup nice ionice chrt taskset time timeout watch entr setsid stdbuf unbuffer " +
    "script flock parallel chroot unshare nsenter systemd-run dbus-run-session ssh-agent xvfb-run faketime strace " +
    "ltrace gdb at batch crontab ssh busybox toybox " +
    "eval exec source . command builtin trap coproc alias enable hash complete compgen mapfile readarray let declare " +
    "typeset local readonly export unset read wait getopts vi vim nvim ex ed emacs nano less more most man start",
));

/** Shells: covered only when the prefix itself names the script. */
const SHELLS: ReadonlySet<string> = new Set(LIST("sh bash zsh dash ash ksh mksh fish csh tcsh pwsh powershell cmd"));

const GIT: Escape = {
  long: LIST(
    "output output-directory exec exec-path config-env config upload-pack receive-pack ext-diff textconv extcmd " +
      "open-files-in-pager git-dir work-tree template tool separate-git-dir",
  ),
  short: "cCoOx",
  words: LIST("config bisect submodule filter-branch difftool mergetool hook daemon instaweb send-email"),
  also: (rest, argv) =>
    rest.some((word) => word.includes("ext::") || (argv.includes("clone") && /^-[A-Za-z]*u/.test(word))),
};

const AWK: Escape = {
  short: "fiElLpdDo",
  also: (rest) => rest.some((word) => /[|>@`]|system|getline|close|fflush/.test(word)),
};

const ESCAPES: ReadonlyMap<string, Escape> = new Map<string, Escape>([
  ["git", GIT],
  ["sort", { long: ["output", "compress-program"], short: "o" }],
  ["shuf", { long: ["output"], short: "o" }],
  ["find", { words: LIST("-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls") }],
  ["fd", { long: ["exec", "exec-batch"], short: "xX" }],
  ["tar", {
    long: LIST(
      "checkpoint-action to-command use-compress-program rsh-command rmt-command info-script new-volume-script " +
        "absolute-names",
    ),
    short: "IFP",
    also: (rest) => /^[^-]*[IFP]/.test(rest[0] ?? ""),
  }],
  ["rg", { long: ["pre", "hostname-bin", "search-zip"], short: "z" }],
  ["ag", { long: ["pager"] }],
  ["ack", { long: ["pager", "output"] }],
  ["bat", { long: ["pager", "diff"] }],
  ["sed", { also: (rest) => !isPlainSed(rest) }],
  ["gsed", { also: (rest) => !isPlainSed(rest) }],
  ["awk", AWK],
  ["gawk", AWK],
  ["mawk", AWK],
  ["nawk", AWK],
  ["printf", { short: "v" }],
  ["test", { words: ["-v", "-R"] }],
  ["split", { long: ["filter"] }],
  ["uniq", { operands: 1 }],
  ["xxd", { operands: 1 }],
  ["tree", { short: "o" }],
  ["iconv", { long: ["output"], short: "o" }],
  ["file", { long: ["compile"], short: "C" }],
  ["yq", { long: ["inplace"], short: "is" }],
  ["zip", { long: ["unzip-command"], short: "T" }],
  ["rsync", { long: ["rsh", "rsync-path"], short: "e" }],
  ["scp", { short: "SoFD" }],
  ["sftp", { short: "SoFDb" }],
  ["curl", {
    long: LIST(
      "output output-dir remote-name remote-name-all config dump-header cookie-jar trace trace-ascii stderr libcurl",
    ),
    short: "oOKDc",
  }],
  ["wget", { long: LIST("use-askpass execute output-document output-file config"), short: "eOo" }],
  ["go", { also: (rest) => rest.some((word) => /^--?(exec|toolexec|vettool|o|C|overlay|modfile)(=|$)/.test(word)) }],
  ["make", {
    long: LIST("eval file makefile directory include-dir"),
    short: "fCI",
    also: (rest) => rest.some((word) => /^\w+[:+?]*=/.test(word)),
  }],
  ["cargo", { long: ["config", "manifest-path", "out-dir"], short: "C" }],
  ["npm", { long: LIST("script-shell node-options prefix globalconfig userconfig"), short: "C" }],
  ["date", { long: ["set"], short: "s" }],
  ["hostname", { operands: 0, short: "F" }],
  ["rm", { long: ["recursive", "force", "no-preserve-root"], short: "rRf" }],
]);

/** Programs that run what they read where no script is named, besides shells. */
const INTERPRETERS = /^(?:python|node|deno|bun|perl|ruby|php|lua|tclsh|osascript|rscript|julia|ghci?)[\d.]*$/;

/** Scripts that only show text. */
const PLAIN_SED: readonly RegExp[] = [
  // Print, delete, quit, with an address: a line, `$`, or an expression.
  /^(?:(?:\d+|\$|\/(?:[^\/\\\n]|\\[^\n])*\/)(?:,(?:\+?\d+|\$|\/(?:[^\/\\\n]|\\[^\n])*\/))?)?[pdq=]$/,
  // Replace; of the flags, `e` runs and `w` writes.
  /^(?:(?:\d+|\$)(?:,(?:\d+|\$))?)?s([\/|,#:@!%])(?:(?!\1)[^\\\n]|\\[^\n])*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gpiI\d]*$/,
];

/** Returns whether a `sed` command line is known to only print, delete or replace on its output. */
function isPlainSed(rest: readonly string[]): boolean {
  const operands: string[] = [];
  const scripts: string[] = [];
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? "";
    if (/^-[nEru]*e$/.test(word)) scripts.push(rest[++at] ?? "");
    else if (word.startsWith("-") && word !== "-") {
      if (!/^-[nEru]+$/.test(word)) return false;
    } else operands.push(word);
  }
  if (scripts.length === 0) scripts.push(operands[0] ?? "");
  return scripts.every((script) => PLAIN_SED.some((form) => form.test(script)));
}

function usesOption(escape: Escape, word: string): boolean {
  if (word.startsWith("--")) {
    const name = word.slice(2).split("=", 1)[0] ?? "";
    return name !== "" && (escape.long ?? []).some((long) => long.startsWith(name));
  }
  return word.startsWith("-") && [...escape.short ?? ""].some((letter) => word.includes(letter, 1));
}

function uses(escape: Escape, rest: readonly string[], argv: readonly string[]): boolean {
  const operands = rest.filter((word) => !word.startsWith("-") || word === "-").length;
  return rest.some((word) => usesOption(escape, word) || escape.words?.includes(word)) ||
    (escape.operands !== undefined && operands > escape.operands) ||
    escape.also?.(rest, argv) === true;
}

/** Returns the name of a program without its directory, as it is compared. */
export function programName(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1).toLowerCase().replace(/\.exe$/, "");
}

/** Returns whether a command may run what another one prints: no rule for it covers that. */
export function runsItsInput([program]: readonly [string, ...string[]]): boolean {
  const name = programName(program);
  return RUNNERS.has(name) || SHELLS.has(name) || INTERPRETERS.test(name);
}

/**
 * Returns whether what follows the first `prefixLength` words of a command may do more than the prefix says. What the
 * prefix itself spells out was somebody's decision and is not checked.
 */
export function escapesPrefix(argv: readonly [string, ...string[]], prefixLength: number): boolean {
  const name = programName(argv[0]);
  if (RUNNERS.has(name)) return true;
  if (SHELLS.has(name)) return prefixLength < 2 || argv[1]?.startsWith("-") !== false;
  const escape = ESCAPES.get(name);
  return escape !== undefined && uses(escape, argv.slice(prefixLength), argv);
}
