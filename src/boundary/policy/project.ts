/** Finds the project's root and opens the project: its markers, and what the home remembers of it. */
import { basename, dirname, isAbsolute, isWithin, join, normalize, resolve } from "../../platform/path.ts";
import { AgentcliError } from "../../errors.ts";
import { type Home, openHome, userHomeOf } from "../../platform/home.ts";
import type { Io } from "../../platform/io.ts";
import { lstatSync, readLinkSync, realPathSync, statSync } from "../../platform/files.ts";
import { ancestors, exists, quietly, realOrNamed } from "../../platform/real_path.ts";
import { MARKER_NAME } from "./marker.ts";
import { findMarkers, type PathRules } from "./path_rules.ts";
import { ProjectRecord } from "./project_record.ts";
import { knownProjects, knownRoots, type RecordData, recordsVersion } from "./project_record_files.ts";
import { ProtectedSet } from "./protected.ts";

/**
 * Returns the project root as a real path: the nearest ancestor of `cwd` with `.git`, else with `.agentclisecret`, else
 * `cwd`. The user's home, its ancestors and the root of the disk count only if they are `cwd` itself, because a stray
 * `.git` there would turn everything the user owns into the project. Throws `usage` if `cwd` cannot be reached.
 */
export function findProjectRoot(cwd: string, userHome: string | undefined): string {
  const found = realPathSync(cwd);
  if (found === null) {
    throw new AgentcliError("usage", `${cwd} does not exist`, { hint: "start in an existing directory" });
  }
  const start = normalize(found);
  const home = userHome === undefined || !isAbsolute(userHome) ? null : realPathSync(userHome);
  const candidates = ancestors(start).filter((directory) =>
    directory === start || (dirname(directory) !== directory && (home === null || !isWithin(directory, home)))
  );
  const ownerOf = (path: string) => quietly(() => lstatSync(path))?.owner;
  // In a directory that several users write, as /tmp, an entry of somebody else makes no project of what lies below.
  const holding = (name: string) =>
    candidates.find((at) => exists(join(at, name)) && [ownerOf(at), ownerOf(start)].includes(ownerOf(join(at, name))));
  return holding(".git") ?? holding(MARKER_NAME) ?? start;
}

/** Returns the project root of a directory, as {@link findProjectRoot} does, by our environment. */
export function projectRootOf(cwd: string, io: Pick<Io, "env" | "os">): string {
  return findProjectRoot(cwd, userHomeOf(io));
}

/** Returns the real path of a directory. Throws `usage` if the path is not a directory. */
export function realDirectory(path: string): string {
  const real = realPathSync(path);
  if (real === null || statSync(real)?.kind !== "directory") {
    throw new AgentcliError("usage", `${path} is not a directory`, { hint: "name an existing directory" });
  }
  return normalize(real);
}

/**
 * Returns the links in the absolute paths of directories, each in its real directory. The markers above a link count,
 * too: a line can cover a project by a path through it. PWD is how the shell names its directory.
 */
export function linksTo(directories: readonly string[], { env }: Partial<Pick<Io, "env">>): Set<string> {
  const shown = env?.("PWD") ?? "";
  const isThere = isAbsolute(shown) && directories.some((one) => realOrNamed(one) === realOrNamed(shown));
  const waiting = [...directories, ...isThere ? [shown] : []].flatMap(ancestors);
  const found = new Set<string>();
  for (const at of waiting) {
    const link = join(realOrNamed(dirname(at)), basename(at));
    const target = found.has(link) ? null : quietly(() => readLinkSync(link));
    if (target === null) continue;
    found.add(link);
    waiting.push(...ancestors(resolve(dirname(link), target)));
  }
  return found;
}

/**
 * Opens the project at a root with additional directories, all real paths. With `create`, new facts are recorded in the
 * home, which is null if it cannot be used. Returns the rules of the markers, the `local-endpoints:` that have an
 * effect, one record for each directory (none without a home), and notices for the user.
 */
export async function openProject(
  home: Home | null,
  root: string,
  { additional = [], create }: { additional?: readonly string[]; create: boolean },
) {
  const rules = findMarkers(root);
  const records: ProjectRecord[] = [];
  // One after another: what lies in a known project trusts nothing by itself.
  for (const at of [root, ...additional]) {
    const { seen, standingEndpoints: endpoints } = at === root ? rules : findMarkers(at);
    if (home !== null) records.push(await ProjectRecord.open(home, at, { markers: seen, endpoints, create }));
  }
  const { count, notices } = endpointsThatCount(rules, records);
  return { root, rules, localEndpoints: count, records, notices: [...records.flatMap(recordNotices), ...notices] };
}

/** The user's projects with protected paths. */
export type ProtectedProjects = ReturnType<typeof protectedProjects>;

/** Reads nothing until it is asked. */
export function protectedProjects(home: Home) {
  let last: { version: string; projects: readonly RecordData[] } | null = null;
  return {
    any: async () => (await knownRoots(home)).length > 0,
    /** Returns the same list until a record changes. */
    async all(): Promise<readonly RecordData[]> {
      const version = await recordsVersion(home);
      if (last?.version !== version) last = { version, projects: await knownProjects(home) };
      return last.projects;
    },
    /** Records that directories were seen, before a command can write what a session there would trust. */
    async note(directories: readonly string[]): Promise<void> {
      for (const directory of directories) {
        for (const record of (await openProject(home, directory, { create: true })).records) await record.note();
      }
    },
  };
}

/** Opens the protected set of the project around a directory; `path` as for {@link ProtectedSet.open}. */
export async function protectedAround(
  directory: string,
  io: Pick<Io, "env" | "os">,
  { path }: { path?: string } = {},
): Promise<ProtectedSet> {
  const roots = [quietly(() => projectRootOf(directory, io)) ?? directory];
  const home = await openHome(io).catch(() => null);
  const remembered = home === null ? [] : await recordsAt(home, roots);
  return await ProtectedSet.open(roots, { path, remembered, links: linksTo([directory], io) });
}

/** Returns the records of the projects with these roots (real paths). Throws `home_unusable` if one cannot be read. */
export async function recordsAt(home: Home, roots: readonly string[]): Promise<readonly ProjectRecord[]> {
  const records = await Promise.all(roots.map((root) => ProjectRecord.open(home, root, { create: false })));
  for (const { problem } of records) if (problem !== null) throw problem;
  return records;
}

function recordNotices({ root, notice, problem }: ProjectRecord): string[] {
  const unusable = problem && `what the markers of ${root} say cannot be remembered: ${problem.message}`;
  return [notice, unusable].filter((text) => text !== null);
}

const HOW_TO_TRUST = "if that server is yours: agentcli secrets trust";

/**
 * Returns which `local-endpoints:` of the root's marker have an effect: those present when the project was first seen,
 * and those the user trusts. They apply only to that marker's own project: if a marker elsewhere protects something
 * here, too, the user must have confirmed the endpoint, and none counts where a file holds content from elsewhere.
 */
export function endpointsThatCount(
  rules: PathRules,
  records: readonly ProjectRecord[],
): { count: string[]; notices: string[] } {
  const [own, ...others] = records;
  const root = rules.roots[0] ?? "/";
  const foreign = [...rules.seen, ...own?.markers ?? []].filter(({ path, lines }) =>
    lines.length > 0 && !isWithin(root, path)
  );
  const result = { count: [] as string[], notices: [] as string[] };
  const isOurs = (path: string) => records.some((record) => isWithin(record.root, path));
  const brought = records.flatMap(({ derived }) => derived).find(({ path, source }) => isOurs(path) && !isOurs(source));
  for (const value of new Set(rules.standingEndpoints)) {
    const closed = foreign.find(({ path }) => own?.opens(value, path) !== true)?.path ??
      others.find((record) => record.known && !record.trustedEndpoints.includes(value))?.root;
    const reason = own?.trustedEndpoints.includes(value) !== true
      ? `it is new in a project that is known, or in or around one; ${HOW_TO_TRUST}`
      : closed !== undefined
      ? `${closed} protects paths here too; ${HOW_TO_TRUST}`
      : brought && `${brought.path} holds content of ${brought.source}; agentcli secrets trust FILE releases that file`;
    if (reason === undefined) result.count.push(value);
    else result.notices.push(`${join(root, MARKER_NAME)}: "local-endpoints: ${value}" has no effect: ${reason}`);
  }
  return result;
}

/** Records the markers and links that a session has seen, with the roots that they concern, else with the project. */
export async function recordSeen(protection: ProtectedSet, records: readonly ProjectRecord[]): Promise<void> {
  const { seen, linked } = protection;
  const concerned = (path: string) => {
    const found = records.filter(({ root }) => isWithin(root, path) || isWithin(dirname(path), root));
    return found.length > 0 ? found : records.slice(0, 1);
  };
  for (const record of records) {
    await record.tighten({
      markers: seen.filter(({ path }) => concerned(path).includes(record)),
      derived: linked.filter(({ source }) => concerned(source).includes(record)),
    });
  }
  protection.remember(records);
}
