/**
 * The rules of the house that can be read from the sources: which room may use which, and who may touch the outside.
 * A pure function over texts, shared by `deno task check` and the architecture test.
 */
import { type Import, importsOf, lineOf, type SourceParts, splitSource } from "./source_text.ts";

/** A file of the project; `path` is relative to its root, with forward slashes. */
export interface Source {
  path: string;
  text: string;
}

/** A rule that a file breaks. */
export interface Finding {
  path: string;
  /** From 1. */
  line: number;
  rule: Rule;
  message: string;
}

/** The names of the rules. */
export type Rule =
  | "arrow"
  | "outside"
  | "network"
  | "platform"
  | "node"
  | "console"
  | "reader"
  | "package"
  | "length"
  | "docstring"
  | "leftover";

/** Lines a file may have. */
const LENGTH_LIMIT = 400;

/**
 * Rooms from the ground up. A room may use everything of the rows below; rooms of one row use each other one way only.
 */
const ROWS: readonly (readonly string[])[] = [
  ["platform", "shell", "rpc"],
  ["boundary"],
  ["config"],
  ["provider"],
  ["mcp"],
  ["tools", "session", "protocol"],
  ["agent"],
  ["runtime"],
  ["private"],
  ["cli"],
];

/** Rooms beside the rows: used by `cli` alone. */
const SIDE_ROOMS = ["terminal", "editor", "engine", "demo"];
/** Rooms that may use a side room besides `cli`: a session starts the demo's server by itself. */
const SIDE_USERS: Readonly<Record<string, readonly string[]>> = { demo: ["runtime"] };
const SIDE_MAY_USE = ["boundary", "config", "provider", "mcp", "platform", "shell"];

/** The room of a file of `src/`; null for `src/errors.ts` and what lies outside. */
export function roomOf(path: string): string | null {
  return path.match(/^src\/([^/]+)\//)?.[1] ?? null;
}

function isTest(path: string): boolean {
  return /_test\.tsx?$/.test(path) || path.startsWith("tests/");
}

/** The path a relative specifier means, from the root of the project. */
function targetOf(path: string, specifier: string): string {
  const parts = path.split("/").slice(0, -1);
  for (const part of specifier.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return parts.join("/");
}

/** Where files can be opened. */
const FILES = /^src\/platform\/files(?:_sync)?\.ts$/;

/** Modules that open files without being the reader, and why that is no way around it. */
const READERS: Readonly<Record<string, string>> = {
  "src/config/endpoint.ts": "`ca_file`: a certificate that the user's own configuration names; no model sees it",
};

/** Makes connections: the provider room's own tool. */
const CLIENTS = "src/platform/http_client.ts";

/** Why `from` may not use `to`; null when it may. */
function arrowProblem(from: string, to: string): string | null {
  if (from === to) return null;
  if (SIDE_ROOMS.includes(to)) {
    return from === "cli" || SIDE_USERS[to]?.includes(from) ? null : `${to} is used from cli only`;
  }
  if (SIDE_ROOMS.includes(from)) return SIDE_MAY_USE.includes(to) ? null : `${from} may not use ${to}`;
  const [lower, upper] = [ROWS.findIndex((row) => row.includes(to)), ROWS.findIndex((row) => row.includes(from))];
  if (lower < 0 || upper < 0) return `${lower < 0 ? to : from} is no room of the house`;
  return lower <= upper ? null : `${from} may not use ${to}, which stands above it`;
}

function checkArrows(source: Source, imports: readonly Import[]): Finding[] {
  const from = roomOf(source.path);
  return imports.flatMap(({ specifier, line }): Finding[] => {
    if (!specifier.startsWith(".")) return [];
    const target = targetOf(source.path, specifier);
    const found = (message: string): Finding[] => [{ path: source.path, line, rule: "arrow", message }];
    if (source.path.startsWith("src/") && !target.startsWith("src/")) return found(`${target} lies outside src/`);
    if (target === CLIENTS && from !== "provider" && from !== "platform") {
      return [{
        path: source.path,
        line,
        rule: "network",
        message: "connections are made through src/provider/http alone",
      }];
    }
    const to = roomOf(target);
    if (to === null) return [];
    if (from === null) {
      return source.path === "main.ts" && ["cli", "platform"].includes(to)
        ? []
        : found(`${source.path} may not use ${to}`);
    }
    const problem = arrowProblem(from, to);
    return problem === null ? [] : found(problem);
  });
}

/** Words of the code that only some files may hold. */
const WORDS: readonly { rule: Rule; pattern: RegExp; allowed: RegExp; message: string }[] = [
  {
    rule: "network",
    pattern: /(?<![.\w$])(?:fetch(?=\s*[(,;)])|WebSocket|WebSocketStream|WebTransport|EventSource|XMLHttpRequest)\b/g,
    allowed: /^src\/provider\/http\//,
    message: "the network is reached through src/provider/http alone",
  },
  {
    rule: "platform",
    pattern: /(?<![\w$])Deno\b|(?<![.\w$])globalThis\b/g,
    allowed: /^src\/platform\//,
    message: "the runtime and its globals are reached through src/platform alone",
  },
  {
    rule: "platform",
    pattern: /(?<![.\w$])Worker\b/g,
    allowed: /^src\/platform\//,
    message: "workers are made in src/platform alone",
  },
  {
    rule: "network",
    pattern: /\bDeno\s*\.\s*(?:connect|connectTls|startTls|listen|listenTls|listenDatagram|serve|resolveDns)\b/g,
    allowed: /^src\/platform\/http_(?:server|client)\.ts$/,
    message: "sockets are opened in src/platform/http_server.ts and http_client.ts alone",
  },
  {
    rule: "node",
    pattern:
      /(?<![.\w$])(?:process\s*\.\s*(?:env|argv|exit|exitCode|stdin|stdout|stderr|cwd|platform|pid|on)|Buffer|require\s*\()/g,
    allowed: /^$/,
    message: "no globals of Node.js",
  },
  {
    rule: "console",
    pattern: /(?<![.\w$]|async )(?:console|alert|prompt|confirm)\s*(?:\.|\[|(?<=alert|prompt|confirm)\()/g,
    allowed: /^$/,
    message: "output goes through the streams that are passed in",
  },
];

function checkWords(source: Source, parts: SourceParts): Finding[] {
  return WORDS.flatMap(({ rule, pattern, allowed, message }) => {
    if (allowed.test(source.path)) return [];
    return [...parts.code.matchAll(pattern)]
      // `prompt(` and `confirm(` are the browser's only while the file has none of its own.
      .filter(([word]) =>
        !/^(prompt|confirm)/.test(word) || !/\b(?:function|import)\b[^;]*\b(prompt|confirm)\b/.test(parts.code)
      )
      .map((match) => ({ path: source.path, line: lineOf(source.text, match.index), rule, message }));
  });
}

function checkSpecifiers(source: Source, imports: readonly Import[]): Finding[] {
  return imports.flatMap(({ specifier, line, names }) => {
    const found = (rule: Rule, message: string): Finding[] => [{ path: source.path, line, rule, message }];
    if (specifier.startsWith("node:")) return found("node", "no modules of Node.js outside tests");
    if (specifier.startsWith("npm:")) {
      const pinned = /^npm:(?:@[\w.-]+\/)?[\w.-]+@\d+\.\d+\.\d+(?:\/.*)?$/.test(specifier);
      return pinned ? [] : found("package", `${specifier} is not pinned to one version`);
    }
    if (!specifier.startsWith(".")) return found("outside", `import of "${specifier}": only relative paths and npm:`);
    const opens = names.filter((name) => /^(open|read)/.test(name));
    const allowed = /^src\/(platform|boundary)\//.test(source.path) || source.path in READERS;
    if (!allowed && opens.length > 0 && FILES.test(targetOf(source.path, specifier))) {
      return found("reader", `${opens.join(", ")}: files are opened through the boundary's reader or the home`);
    }
    return [];
  });
}

function checkDocstrings(source: Source): Finding[] {
  const lines = source.text.split("\n");
  return lines.flatMap((text, at) => {
    if (!/^export\s+(?:default\s+)?(?:async\s+)?(?:abstract\s+)?(?:function|class)\b/.test(text)) return [];
    // The one function of a command's module is what the head of the module describes.
    if (/^src\/cli\//.test(source.path) && /\bfunction run\(/.test(text) && source.text.startsWith("/**")) return [];
    let above = at - 1;
    while (/^\s*\/\/ deno-lint-ignore/.test(lines[above] ?? "")) above -= 1;
    // Overloads share the docstring of the first.
    if (/\*\/\s*$/.test(lines[above] ?? "") || /^export function .*;$/.test(lines[above] ?? "")) return [];
    return [{
      path: source.path,
      line: at + 1,
      rule: "docstring",
      message: "an exported function or class says what it gives",
    }];
  });
}

function checkLength(source: Source): Finding[] {
  const count = source.text.trimEnd().split("\n").length;
  if (count <= LENGTH_LIMIT) return [];
  return [{
    path: source.path,
    line: LENGTH_LIMIT + 1,
    rule: "length",
    message: `${count} lines; at most ${LENGTH_LIMIT}`,
  }];
}

function checkLeftovers(source: Source, parts: SourceParts): Finding[] {
  const pattern = /\b(?:TODO|FIXME|HACK|WIP|XXX)\b|\/(?:home|Users|root)\/\w+/g;
  return [...parts.comments.matchAll(pattern)].map((match) => ({
    path: source.path,
    line: lineOf(source.text, match.index),
    rule: "leftover",
    message: `"${match[0]}" in a comment`,
  }));
}

/** Rooms of one row that use each other both ways. */
function checkCircles(sources: readonly Source[]): Finding[] {
  const arrows = sources.flatMap((source) =>
    importsOf(source.text).map(({ specifier, line }) => ({
      path: source.path,
      line,
      from: roomOf(source.path),
      to: specifier.startsWith(".") ? roomOf(targetOf(source.path, specifier)) : null,
    }))
  ).filter(({ from, to }) => from !== to && ROWS.some((row) => row.includes(from ?? "") && row.includes(to ?? "")));
  return arrows
    .filter((arrow) => arrows.some(({ from, to }) => from === arrow.to && to === arrow.from))
    .map(({ path, line, from, to }) => ({ path, line, rule: "arrow", message: `${from} and ${to} use each other` }));
}

/** Packages that more than one module imports. */
function checkPackages(sources: readonly Source[]): Finding[] {
  const users = new Map<string, { path: string; line: number }[]>();
  for (const source of sources) {
    for (const { specifier, line } of importsOf(source.text)) {
      const name = specifier.match(/^npm:((?:@[\w.-]+\/)?[\w.-]+)/)?.[1];
      if (name === undefined) continue;
      const known = users.get(name) ?? [];
      if (!known.some(({ path }) => path === source.path)) known.push({ path: source.path, line });
      users.set(name, known);
    }
  }
  return [...users].flatMap(([name, [first, ...others]]) =>
    others.map(({ path, line }) => ({
      path,
      line,
      rule: "package" as const,
      message: `${name} is imported by ${first?.path} already: use that module`,
    }))
  );
}

/** Everything in `sources` that breaks a rule; files of tests answer only to length and leftovers. */
export function checkArchitecture(sources: readonly Source[]): Finding[] {
  const program = sources.filter(({ path }) => !isTest(path) && (path.startsWith("src/") || path === "main.ts"));
  const each = program.flatMap((source) => {
    const parts = splitSource(source.text);
    const imports = importsOf(source.text);
    return [
      ...checkArrows(source, imports),
      ...checkWords(source, parts),
      ...checkSpecifiers(source, imports),
      ...checkDocstrings(source),
    ];
  });
  const all = sources.flatMap((source) => [
    ...checkLength(source),
    ...checkLeftovers(source, splitSource(source.text)),
  ]);
  return [...each, ...all, ...checkCircles(program), ...checkPackages(sources)];
}

/** A finding on one line: `src/a/b.ts:3 arrow: …`. */
export function showFinding({ path, line, rule, message }: Finding): string {
  return `${path}:${line} ${rule}: ${message}`;
}
