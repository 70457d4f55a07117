/** Files of the home that hold something for each project, by its root. Nothing in the project itself can add to them. */
import { AgentcliError } from "../errors.ts";
import type { Home } from "../platform/home.ts";
import { fieldsOf, isRecord, type JsonRecord, parseJson } from "../platform/record.ts";

/** One such file. `T` is what it holds for a project. */
export interface ProjectFile<T> {
  /** Relative to the home. */
  name: string;
  holds(value: unknown): value is T;
  /** Follows the path in an error: `does not hold permission rules`. */
  problem: string;
  hint: string;
}

/** Returns what is kept for a project; undefined for nothing. Throws `config_invalid` for a file that is none of ours. */
export async function readForProject<T>(
  home: Home,
  file: ProjectFile<T>,
  { root }: { root: string },
): Promise<T | undefined> {
  return (await readProjects(home, file))[root] as T | undefined;
}

/** Replaces what is kept for a project; undefined keeps nothing. Throws `home_unusable` and `config_invalid`. */
export async function changeForProject<T>(
  home: Home,
  file: ProjectFile<T>,
  { root, change }: { root: string; change(before: T | undefined): T | undefined },
): Promise<void> {
  await home.locked(file.name, async () => {
    const { [root]: before, ...others } = await readProjects(home, file);
    const after = change(before as T | undefined);
    const kept = [...Object.entries(others), ...after === undefined ? [] : [[root, after] as const]];
    await home.write(file.name, JSON.stringify({ projects: Object.fromEntries(kept) }, null, 2) + "\n");
  });
}

async function readProjects<T>(home: Home, file: ProjectFile<T>): Promise<JsonRecord> {
  const text = await home.read(file.name);
  const { projects } = fieldsOf(text === null ? { projects: {} } : parseJson(text));
  if (isRecord(projects) && Object.values(projects).every((value) => file.holds(value))) return fieldsOf(projects);
  throw new AgentcliError("config_invalid", `${home.file(file.name)} ${file.problem}`, { hint: file.hint });
}
