/**
 * Finds changes that would turn the guard off: to the markers, the hooks of the editors, and agentcli itself. A command
 * or a tool that names one is blocked, whatever it does with it: what a program does with a name is unknown.
 */
import { decidesProtection, writeProtection } from "../../boundary/policy/write_protected.ts";
import { lstatSync, statSync } from "../../platform/files.ts";
import { basename, isAbsolute, isWithin, join, relativeTo } from "../../platform/path.ts";
import { exists, quietly, realOrNamed } from "../../platform/real_path.ts";
import { ASSISTANT_IDS, ASSISTANTS } from "../assistants.ts";
import { DIALECT_IDS, DIALECTS } from "../dialect.ts";
import type { ProtectedLookup } from "./lookup.ts";

/** Commands that change or remove a directory that they are given. */
const CHANGING =
  /(?:^|[\s;&|(/\\"'`])(?:rm|rmdir|mv|ln|cp|rsync|unlink|chmod|chown|shred|rename|move|ren|rd|del|erase|ri|mi|rni|tee|truncate|dd|install|sed|perl|patch|tar|unzip|trash|rimraf|mount|(?:remove|move|rename)-item|git\s[^;&|\n]{0,300}?\b(?:rm|mv|clean|checkout|restore))\b|\s-delete\b|>\s*[^\s;&|]*[*?[{]/i;
/**
 * The commands of agentcli that change what is installed, or loosen what is protected, in a text without quotes;
 * `main.ts` is a checkout's.
 */
const OWN_COMMANDS =
  /(?:agentcli|\bmain\.ts\b)[^]{1,500}?\b(?:config|editor|mcp|providers|quarantine|secrets)(?:\s+-\S+(?:\s+[^-\s]\S*)?){0,5}\s+(?:add|allow|apply|approve|edit|import|init|install|keep|pending|release|remove|restore|session|set|trust|uninstall)\b/i;
/** Below the home of the user. */
const LOADED =
  /^(?:\.|bin(?:\/|$)|Library\/LaunchAgents(?:\/|$)|(?:OneDrive\/)?Documents\/(?:Windows)?PowerShell(?:\/|$))/i;
/** One command that only shows what it would do: `--dry-run` counts for one command only, and not in a comment. */
const SHOWS_ALONE = /^[^;&|#\n]*\s--dry-run(?:\s[^;&|#\n]*)?$/;

/** The directories of editors and assistants, in a project and in the home. */
const OF_ASSISTANTS = ASSISTANT_IDS.map((id) => ASSISTANTS[id].directory);
const OF_PROJECT = [...DIALECT_IDS.map((id) => DIALECTS[id].projectDirectory), ...OF_ASSISTANTS];
const OF_USER = [...DIALECT_IDS.map((id) => DIALECTS[id].userDirectory), ...OF_ASSISTANTS];

/** Finds paths and commands that would turn the guard off around a project. */
export class TamperCheck {
  readonly #lookup: ProtectedLookup;
  readonly #agentcliHome: string | null;
  readonly #programs: ReadonlySet<string>;
  readonly #path: readonly string[];
  #identities: ReadonlySet<string> | null = null;

  /** `agentcliHome` is a real path, null where there is none; `path` is the value of PATH. */
  constructor(lookup: ProtectedLookup, { agentcliHome, path }: { agentcliHome: string | null; path: string }) {
    this.#lookup = lookup;
    this.#agentcliHome = agentcliHome;
    this.#path = path.split(/[:;]/).filter(isAbsolute);
    this.#programs = new Set(this.#path.map((directory) => join(directory, "agentcli")));
  }

  /**
   * Returns why the path may not be changed, a few words; null when it is none of these, also under another name of the
   * file.
   */
  reasonAt(path: string): string | null {
    const real = realOrNamed(path);
    if (this.#agentcliHome !== null && isWithin(this.#agentcliHome, real)) return "it belongs to agentcli itself";
    // An earlier one would run in place of the real one.
    if (this.#programs.has(path) || this.#programs.has(real)) return "it belongs to agentcli itself";
    const named = decidesProtection(path) ?? decidesProtection(real);
    if (named !== null) return named;
    const status = quietly(() => lstatSync(real));
    if (status === null || status.kind !== "file" || status.links < 2) return null;
    return this.#known().has(`${status.device}:${status.inode}`)
      ? "it is another name of a file that decides what is protected"
      : null;
  }

  /** Returns why the path may not be written, a few words; null when it may. */
  reasonOfWrite(path: string): string | null {
    const { userHome } = this.#lookup;
    const places = [path, realOrNamed(path)];
    for (const place of places) {
      const reason = writeProtection(place, userHome) ?? this.#reasonOutside(place);
      if (reason !== null) return reason;
    }
    return this.reasonAt(path);
  }

  /**
   * Outside of the projects, what a shell loads or finds as a program: whatever is hidden in the home, since its files
   * name each other, except the editor's own; the directories of PATH; and the settings of the machine.
   */
  #reasonOutside(path: string): string | null {
    const { userHome, roots } = this.#lookup;
    if (roots.some((root) => isWithin(root, path))) return null;
    if (this.#path.some((directory) => isWithin(directory, path))) return "a shell finds programs there";
    const below = userHome !== null && isWithin(userHome, path) ? relativeTo(userHome, path) : "";
    const isOwn = OF_USER.some((directory) => isWithin(directory, below));
    return (LOADED.test(below) && !isOwn) || isWithin("/etc", path) ? "a shell may load it" : null;
  }

  /** Returns why a directory may not be moved or removed: it holds the hooks. */
  reasonAbove(path: string): string | null {
    const real = realOrNamed(path);
    const holds = this.#directories().some((place) =>
      place === real || (basename(real).startsWith(".") && isWithin(real, place))
    );
    return holds && exists(real) ? "hooks of the editor lie in it" : null;
  }

  /** Returns why nothing may be written or removed at a path: below it lies what decides protection. */
  reasonInside(path: string): string | null {
    const places = [path, realOrNamed(path)];
    const own = this.#agentcliHome === null ? [] : [this.#agentcliHome];
    const held = [...this.#lookup.set.markers, ...this.#directories(), ...this.#programs, ...own].find((one) =>
      places.some((place) => isWithin(place, one)) && exists(one)
    );
    return held === undefined ? null : `it holds ${held}, which decides what is protected`;
  }

  /** Returns why a command may not run: it makes agentcli change what is installed, or what is protected. */
  reasonOfCommand(text: string): string | null {
    const plain = text.replace(/\\\r?\n|["'\\]/g, "");
    return OWN_COMMANDS.test(plain) && !SHOWS_ALONE.test(plain)
      ? "it changes what agentcli installed or keeps closed"
      : null;
  }

  /** Returns whether a command may change directories that it names. */
  changes(text: string): boolean {
    return CHANGING.test(text);
  }

  #directories(): string[] {
    const { userHome, bases } = this.#lookup;
    return [
      ...bases.flatMap((base) => OF_PROJECT.map((directory) => join(base, directory))),
      ...(userHome === null ? [] : OF_USER.map((directory) => join(userHome, directory))),
    ];
  }

  #candidates(): string[] {
    const names = ["hooks.json", "settings.json", "hooks/no-cloud-guard.sh", "hooks/no-cloud-guard.ps1"];
    return [
      ...this.#lookup.set.markers,
      ...this.#directories().flatMap((directory) => names.map((name) => join(directory, name))),
    ];
  }

  #known(): ReadonlySet<string> {
    this.#identities ??= new Set(
      this.#candidates().flatMap((path) => {
        const status = quietly(() => statSync(path));
        return status?.kind === "file" ? [`${status.device}:${status.inode}`] : [];
      }),
    );
    return this.#identities;
  }
}
