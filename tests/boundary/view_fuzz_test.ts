/**
 * Random trees with names of any bytes in every place that a view shows, and rules whose meaning follows from the bytes
 * alone: what they cover must not come out of any place, by any name.
 */
import assert from "node:assert/strict";
import * as fc from "../property.ts";
import { ProtectedSet } from "../../src/boundary/policy/protected.ts";
import { createSessionSandbox } from "../../src/boundary/sandbox/sandbox.ts";
import { hasBubblewrap, sandboxIo, secondChoice, start } from "./sandbox_project.ts";

const RUNS = Number(Deno.env.get("FUZZ_RUNS") ?? 15);

/**
 * Pieces of names: letters, what shells and formats mean by signs, bytes that are no UTF-8, and parts of characters.
 */
const PIECES: readonly number[][] = [
  ..."abc".split("").map((letter) => [letter.charCodeAt(0)]),
  ...[" ", "'", '"', "\\", "\n", "%", "$", "*", "?", "-", ".", ";", "#", "\t", "\\0"].map((
    text,
  ) => [...new TextEncoder().encode(text)]),
  ...["é", "\ufffd", "😀", "\u202e"].map((text) => [...new TextEncoder().encode(text)]),
  [0xe9],
  [0xff],
  [0xc3],
  [0xf0, 0x9f],
  [0x80],
];
const name = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("a", "b", "c d", ".h").map((text) => [...new TextEncoder().encode(text)]) },
  {
    weight: 2,
    arbitrary: fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 4 }).map((pieces) => pieces.flat()),
  },
  { weight: 1, arbitrary: fc.constant([...new TextEncoder().encode("secret")]) },
);
/** Whether the last name ends as the rule a name ending in .pem wants it. */
const entry = fc.record({
  place: fc.constantFrom("root", "read", "share", "linked", "additional"),
  names: fc.array(name, { minLength: 1, maxLength: 3 }),
  pem: fc.boolean(),
  kind: fc.constantFrom("file", "file", "file", "hard", "link", "fifo"),
  to: fc.nat(20),
});

/** What the attempts came to: a property of nothing would hold as well. */
const seen = { ran: 0, covered: 0, open: 0 };

type Entry = { place: string; names: (readonly number[])[]; pem: boolean; kind: string; to: number };

const MARKER = "no-cloud: **/*.pem\nno-cloud: **/secret\n";
const PEM = [...new TextEncoder().encode(".pem")];
const SECRET = new TextEncoder().encode("secret").join(",");

function bytesOf({ names, pem }: Entry): (readonly number[])[] {
  const cleaned = names.map((one) => {
    const text = new TextDecoder().decode(new Uint8Array(one));
    return text === "." || text === ".." ? [...one, 0x61] : one;
  });
  return pem ? [...cleaned.slice(0, -1), [...cleaned.at(-1) ?? [], ...PEM]] : cleaned;
}

/** What the rules say, from the bytes alone: a name that is `secret`, or ends in `.pem`. */
function isCovered(names: (readonly number[])[]): boolean {
  return names.some((one) => one.join(",") === SECRET || one.slice(-PEM.length).join(",") === PEM.join(","));
}

/** A word of bash, of any bytes. */
function quoted(names: (readonly number[])[]): string {
  const path = names.map((one) => one.map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")).join("/");
  return `$'${path}'`;
}

async function bash(script: string, env: Record<string, string>): Promise<string> {
  const child = new Deno.Command("/bin/bash", {
    args: ["-s"],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
    clearEnv: true,
    env: { PATH: "/usr/bin:/bin", ...env },
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(script));
  await writer.close();
  return new TextDecoder().decode((await child.output()).stdout);
}

/** Reads everything by every name, and again after changing modes and moving about what can be. */
const LOOK = `look() { find -L "$@" -type f -exec cat {} + ; grep -ra . "$@" ; tar c "$@" ; } 2>/dev/null
look "$@"; for d in "$@"; do cd "$d" && { chmod -R u+rwX . ; for one in * .h; do mv -- "$one" moved && look . ; mv -- moved "$one"; done; }; done 2>/dev/null
echo END`;

async function attempt(entries: Entry[], second: boolean): Promise<void> {
  const base = await Deno.realPath(await Deno.makeTempDir());
  try {
    const places: Record<string, string> = {
      root: `${base}/project`,
      read: `${base}/data`,
      share: `${base}/tool/share`,
      linked: `${base}/real`,
      additional: `${base}/beside`,
    };
    for (const place of [...Object.values(places), `${base}/tool/bin`]) await Deno.mkdir(place, { recursive: true });
    await Deno.symlink(`${base}/real`, `${base}/link`);
    // Each place has the rules: the user's directories may be other projects.
    for (const place of Object.values(places)) await Deno.writeTextFile(`${place}/.agentclisecret`, MARKER);
    const script: string[] = [];
    const secrets: number[] = [];
    const made: string[] = [];
    for (const [index, one] of entries.entries()) {
      const names = bytesOf(one);
      const path = `${quotedPlace(places[one.place] ?? "")}/${quoted(names)}`;
      const parent = names.length === 1
        ? quotedPlace(places[one.place] ?? "")
        : `${quotedPlace(places[one.place] ?? "")}/${quoted(names.slice(0, -1))}`;
      const other = made[one.to % Math.max(made.length, 1)] ?? "/nowhere";
      script.push(`mkdir -p ${parent}`);
      if (one.kind === "file") {
        script.push(`[ -e ${path} ] || { printf 'CONTENT_${index}_' > ${path} && echo made ${index}; }`);
      } else if (one.kind === "hard") script.push(`ln -T ${other} ${path}`);
      else if (one.kind === "link") script.push(`ln -sT ${other} ${path}`);
      else script.push(`mkfifo ${path}`);
      made.push(path);
      if (one.kind === "file" && isCovered(names)) secrets.push(index);
    }
    // A link or a hard link of a covered name covers what it leads to: only files of their own are counted as open
    // here.
    const done = await bash(script.join("\n"), {});
    const present = new Set([...done.matchAll(/^made (\d+)$/gm)].map(([, index]) => Number(index)));
    const protection = new ProtectedSet([places["root"] ?? "", places["additional"] ?? ""]);
    protection.refresh();
    const programs = second ? await secondChoice(base) : null;
    const sandbox = createSessionSandbox({
      io: sandboxIo(`${base}/tool/bin:/usr/bin:/bin`, `${base}/user`),
      settings: { mode: "auto", network: false, read: [places["read"] ?? "", `${base}/link`], write: [], env: [] },
      home: `${base}/home`,
      roots: [places["root"] ?? "", places["additional"] ?? ""],
      ...programs === null ? {} : { programs },
    });
    const shown = [
      places["root"],
      places["additional"],
      places["read"],
      places["share"],
      `${base}/link`,
      `${base}/real`,
    ];
    const sandboxed = await sandbox.wrapCommand({
      root: places["root"] ?? "",
      additional: [places["additional"] ?? ""],
      cwd: places["root"] ?? "",
      argv: ["/bin/bash", "-c", LOOK, "bash", ...shown.map(String)],
      env: { PATH: "/usr/bin:/bin" },
      protection,
      git: false,
      network: false,
    });
    // Fails closed: what cannot be shown without something protected is not shown at all.
    if (sandboxed.kind === "refused") return;
    const { text } = await start(sandboxed.argv, sandboxed);
    assert.match(text, /END\n/);
    seen.ran++;
    seen.open += text.includes("CONTENT_") ? 1 : 0;
    for (const index of secrets) {
      seen.covered += present.has(index) ? 1 : 0;
      if (present.has(index)) assert.ok(!text.includes(`CONTENT_${index}_`), `CONTENT_${index}_ came through`);
    }
  } finally {
    await bash(`chmod -R u+rwX "$B"; rm -rf "$B"`, { B: base });
  }
}

function quotedPlace(path: string): string {
  return `'${path}'`;
}

for (const second of [false, true]) {
  Deno.test(`no name of any bytes lets protected content out of any place${second ? ", the second way" : ""}`, {
    ignore: !hasBubblewrap(),
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { minLength: 4, maxLength: 16 }), (entries) => attempt(entries, second)),
      { numRuns: second ? Math.ceil(RUNS / 3) : RUNS },
    );

    assert.ok(seen.ran > 0 && seen.covered > 0 && seen.open > 0, JSON.stringify(seen));
  });
}
