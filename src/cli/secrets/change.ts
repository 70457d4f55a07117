/** Changes what is protected: adds lines to the marker, allows fragments, and trusts a changed project. */
import { parseLocalEndpoint } from "../../boundary/policy/locality.ts";
import { escapedPath, MARKER_NAME, parseMarker } from "../../boundary/policy/marker.ts";
import { findMarkers } from "../../boundary/policy/path_rules.ts";
import { recordSeen } from "../../boundary/policy/project.ts";
import { describeRule, type ProtectionRule } from "../../boundary/policy/protection_rule.ts";
import { AgentcliError } from "../../errors.ts";
import { isWithin, join, relativeTo, resolve } from "../../platform/path.ts";
import { shellQuoted } from "../../shell/quote.ts";
import { clean } from "../../terminal/clean.ts";
import type { Invocation } from "../command.ts";
import { openProjectContext, type ProjectContext, ruleJson, warnOfMarkers } from "./context.ts";
import type { ADD_OPTIONS } from "../boundary_commands.ts";
import { diskAdvice, diskReason } from "../../platform/disk_failure.ts";
import { lstatSync, writeAtomically } from "../../platform/files.ts";
import { readRegularFile } from "../../boundary/reader.ts";
import { unitsOfText } from "../../boundary/scan/leak_scanner.ts";
import { confirmed, print, warn } from "../result.ts";
import { ProtectedSet } from "../../boundary/policy/protected.ts";
import { stagedPaths } from "./git_index.ts";

/**
 * Writes nothing when a path is outside of the project, or a host is invalid. What is covered already is reported and
 * not written again.
 */
export async function addPaths({ options, arguments: words, context }: Invocation<typeof ADD_OPTIONS>): Promise<void> {
  const hosts = options.localEndpoint;
  if (words.length + hosts.length === 0) {
    throw new AgentcliError("usage", "nothing to add", { hint: "name a path, or a host with --local-endpoint" });
  }
  const wrong = hosts.find((host) => parseLocalEndpoint(host) === null);
  if (wrong !== undefined) {
    throw new AgentcliError("usage", `${clean(wrong)} is not a host`, { hint: "write host, host:port or [v6]:port" });
  }
  const project = await openProjectContext(context, { create: true });
  const { root, cwd, protection, record } = project;
  const paths = words.map((word) => {
    const path = resolve(cwd, word);
    if (word === "" || !isWithin(root, path)) {
      throw new AgentcliError("usage", `${clean(word) || "an empty path"} is not in the project ${root}`, {
        hint: "a marker covers only what lies below it",
      });
    }
    // A line for the root covers all in it, not the root.
    return { word, path: path === root ? join(root, "*") : path, value: markerValue(relativeTo(root, path)) };
  });
  // A link, a copy or an unusable marker protects for a while, a line for good.
  const markers = findMarkers(root);
  const isNew = (path: string) => protection.damaged !== null || markers.named(path) === null;
  const open = paths.filter(({ path }) => isNew(path));
  const values = [...new Set(open.map(({ value }) => value))];
  if (values.length > 0) await addToMarker(root, values.map((value) => `no-cloud: ${value}`));
  await trustHosts(hosts, project);
  protection.refresh();
  await protection.settle();
  if (record !== null) await recordSeen(protection, [record]);
  const trusted = trustedHosts(hosts, project);
  const lines: string[] = [];
  for (const { word, path, value } of paths) {
    const rule = protection.rule(path);
    const said = open.some((one) => one.word === word) ? "added" : "was already protected";
    const isThere = said !== "added" || /[*?[]/.test(word) || lstatSync(resolve(cwd, word)) !== null;
    const absent = `nothing is there yet${value.includes("/") ? "" : `; every ${clean(word)} below is covered`}`;
    const by = rule === null ? "" : clean(describeRule(rule, root));
    lines.push(`${clean(word)}: ${said} (${by})${isThere ? "" : `; ${absent}`}\n`);
  }
  for (const { host, from } of trusted) {
    lines.push(`${clean(host)}: counts as local here and may get what is protected (${clean(from)})\n`);
  }
  const json = { marker: join(root, MARKER_NAME), added: values, local_endpoints: hosts, trusted_endpoints: trusted };
  const taken = values.length === 0 ? [] : stagedPaths(root).filter((path) => isNew(path) && protection.named(path));
  await print(context, { json, text: lines.join(""), notes: taken.length === 0 ? [] : [takenNote(taken, root)] });
  await warnOfMarkers({ ...project, notices: [] }, context);
  const problem = record?.problem ?? null;
  if (problem !== null) await warn(context, `what is protected here cannot be remembered: ${problem.message}`);
}

/** Says that git has files that are protected from now on. Models see nothing of its copies, others do. */
function takenNote([first = "", ...more]: readonly string[], root: string): string {
  const name = clean(relativeTo(root, first));
  const [others, path] = more.length === 0 ? ["", shellQuoted(name)] : [` and ${more.length} more`, "PATH"];
  return `git already holds ${name}${others}: what is committed stays in the history, for everybody who has the ` +
    `repository; git rm --cached ${path} keeps it out of the next commit`;
}

async function trustHosts(hosts: readonly string[], { root, record }: ProjectContext): Promise<void> {
  if (hosts.length === 0 || record === null) return;
  if (record.problem !== null) throw record.problem;
  const standing = findMarkers(root).standingEndpoints;
  const missing = hosts.filter((host) => !standing.includes(host));
  if (missing.length > 0) await addToMarker(root, missing.map((host) => `local-endpoints: ${host}`));
  for (const host of hosts) await record.trustEndpoint(host);
}

/**
 * Hosts that may get what is protected here, each with the reason, shown because new lines do not protect from them.
 */
function trustedHosts(
  added: readonly string[],
  { root, localEndpoints, record }: ProjectContext,
): { host: string; from: string }[] {
  const first = `it stood in ${join(root, MARKER_NAME)} when the project was first seen`;
  return [...new Set([...added, ...localEndpoints])].map((host) => ({
    host,
    from: added.includes(host) || record?.own?.confirmed.includes(host) ? "you said so" : first,
  }));
}

/** Permission bits of a new marker: everybody who may read the project may know its rules. */
const NEW_MARKER_MODE = 0o644;

/** A path below the marker's directory as a line of the marker holds it. Throws `usage` for a name with a line end. */
function markerValue(path: string): string {
  if (/[\r\n]/.test(path)) {
    throw new AgentcliError("usage", "a file name with a line break cannot be added to a marker", {
      hint: "protect its directory, or use ? in place of that character",
    });
  }
  return escapedPath(path);
}

/**
 * Appends lines to the marker of `root`, which is created when there is none; everything in it stays as it is. Throws
 * `usage` when it is damaged or not a plain file, or when the system refuses.
 */
async function addToMarker(root: string, lines: readonly string[]): Promise<void> {
  const path = join(root, MARKER_NAME);
  const unusable = (reason: string) =>
    new AgentcliError("usage", `${path} was not changed: ${reason}`, { hint: "repair it with an editor first" });
  const status = lstatSync(path);
  let text = "";
  if (status !== null) {
    if (status.kind !== "file") throw unusable("it is not a regular file");
    const read = readRegularFile(path, { display: path });
    if ("refused" in read) throw unusable("it cannot be read");
    const { damaged } = parseMarker(read.bytes);
    if (damaged !== undefined) throw unusable(damaged);
    text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(read.bytes);
  }
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const start = text === "" || /[\r\n]$/.test(text) ? text : text + end;
  const added = lines.map((line) => line + end).join("");
  try {
    await writeAtomically(path, start + added, { mode: status?.mode ?? NEW_MARKER_MODE });
  } catch (error) {
    const reason = diskReason(error);
    if (reason === null) throw error;
    throw new AgentcliError("usage", `${path} was not ${status === null ? "made" : "changed"}: ${reason}`, {
      hint: diskAdvice(error) ?? `check the owner and the permissions of ${root}`,
      cause: error,
    });
  }
}

/** Most lines that one call allows: a whole file is better removed from the marker. */
const LINE_LIMIT = 100;

/** Returns 1 if the user declined. The lines are kept as salted digests, and never printed. */
export async function allowFragment({ arguments: words, context }: Invocation): Promise<number> {
  const { cwd, protection, record } = await openProjectContext(context, { create: true });
  const { path, first, last } = placeIn(words[0] ?? "");
  const full = resolve(cwd, path);
  const rule = protection.rule(full);
  if (rule === null || rule.tier !== "no-cloud" || record === null) {
    throw new AgentcliError("usage", `${clean(path)} is not protected as no-cloud`, {
      hint: "`agentcli secrets list` names the files that are",
    });
  }
  const read = readRegularFile(full, { display: path });
  if ("refused" in read) throw new AgentcliError("usage", clean(read.message));
  const lines = new TextDecoder().decode(read.bytes).split(/\r\n|\n|\r/);
  if (last > lines.length) throw new AgentcliError("usage", `${clean(path)} has ${lines.length} lines`);
  const units = unitsOfText(new TextEncoder().encode(lines.slice(first - 1, last).join("\n")));
  const named = first === last ? `line ${first}` : `lines ${first} to ${last}`;
  if (!await confirmed(context, `Let remote models receive ${named} of ${clean(path)}?`)) return 1;
  await record.allow(units);
  await print(context, {
    json: { path: full, first_line: first, last_line: last, allowed: true },
    text: `${named} of ${clean(path)} may be sent to remote models; the file stays protected\n`,
  });
  return 0;
}

function placeIn(word: string): { path: string; first: number; last: number } {
  const [, path = "", from = "", to = from] = /^(.+):(\d{1,7})(?:-(\d{1,7}))?$/.exec(word) ?? [];
  const [first, last] = [Number(from), Number(to)];
  if (path === "" || first < 1 || last < first || last - first >= LINE_LIMIT) {
    throw new AgentcliError("usage", `${clean(word)} does not name lines of a file`, {
      hint: `FILE:LINE or FILE:FIRST-LAST, at most ${LINE_LIMIT} lines: agentcli secrets allow-fragment .env:2`,
    });
  }
  return { path, first, last };
}

interface Difference {
  /** Rules that no marker has any longer. */
  gone: ProtectionRule[];
  /** `local-endpoints:` without an effect. */
  endpoints: string[];
  /** Files that hold protected content, and what links led to, absolute paths. */
  derived: string[];
}

/** Returns 1 if the user declined. With paths only these files are released. */
export async function trustProject({ arguments: words, context }: Invocation): Promise<number> {
  const { io, globals } = context;
  const project = await openProjectContext(context, { create: true });
  const { root, cwd, record } = project;
  if (record === null) throw new AgentcliError("internal", "a project that is recorded has no record");
  if (record.problem !== null) throw record.problem;
  // Read before the question: later changes were not shown.
  const now = await ProtectedSet.open([root]);
  const found = differenceOf(project, now);
  const named = words.map((word) => resolve(cwd, word));
  const stranger = named.find((path) => !found.derived.includes(path));
  if (stranger !== undefined) {
    throw new AgentcliError(
      "usage",
      `${clean(stranger)} is not recorded as a copy of protected content, or as what a link led to`,
      {
        hint:
          "`agentcli secrets list` names the files that are, and another tree of the repository may have recorded it: " +
          "run this there; without a path, all changes are accepted",
      },
    );
  }
  const change = named.length === 0 ? found : { gone: [], endpoints: [], derived: named };
  const json = {
    root,
    rules: change.gone.map((rule) => ruleJson(rule, root)),
    local_endpoints: change.endpoints,
    released: change.derived,
  };
  if (change.gone.length + change.endpoints.length + change.derived.length === 0) {
    const message = "nothing to accept: the project matches what is recorded";
    await print(context, { json: { ...json, trusted: false }, message });
    return 0;
  }
  if (!globals.json) await io.stderr.write(textOf(change, project));
  if (!await confirmed(context, "Trust the project as it is now?")) return 1;
  if (named.length === 0) {
    await record.trust({ markers: now.seen, endpoints: now.standingEndpoints, confirmed: change.endpoints });
  }
  await record.release(change.derived);
  await print(context, { json: { ...json, trusted: true }, text: `trusted: ${clean(root)}\n` });
  await warnOfMarkers({ ...project, notices: [] }, context);
  return 0;
}

/** `now` is what the markers alone protect. */
function differenceOf({ protection, localEndpoints, record }: ProjectContext, now: ProtectedSet): Difference {
  const own = record?.own ?? null;
  const isOwn = ({ marker, tier, pattern }: ProtectionRule) =>
    own?.markers.some(({ path, lines }) =>
      path === marker && lines.some((line) => line.tier === tier && line.pattern === pattern)
    ) === true;
  const gone = protection.rules.filter((rule) => rule.remembered === true && isOwn(rule));
  return {
    gone,
    endpoints: [...new Set(now.standingEndpoints)].filter((value) => !localEndpoints.includes(value)),
    derived: record?.releasable.filter((path) => now.linkTo(path) === null) ?? [],
  };
}

function textOf({ gone, endpoints, derived }: Difference, { root, protection }: ProjectContext): string {
  const shown = (path: string) => {
    const rule = protection.named(path);
    return relativeTo(root, path) + (rule === null ? "" : ` (${describeRule(rule, root)})`);
  };
  const part = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? "" : `${title}\n${lines.map((line) => `  ${clean(line)}\n`).join("")}`;
  return part(
    "will no longer be protected, because the marker line was removed:",
    gone.map((rule) => describeRule(rule, root)),
  ) +
    part("will count as local, and may receive protected content:", endpoints) +
    part("will be released:", derived.map(shown));
}
