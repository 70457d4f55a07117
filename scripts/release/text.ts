/** What a release changes in texts. */
import { ScriptError } from "../script.ts";

const UNRELEASED = "## [Unreleased]\n";

/**
 * The changelog with what was unreleased under the new version, and that part alone as the notes of the release.
 * Throws {@link ScriptError} when nothing is unreleased or the version is there already.
 */
export function releasedChangelog(
  text: string,
  { version, day }: { version: string; day: string },
): { changelog: string; notes: string } {
  const at = text.indexOf(UNRELEASED);
  if (at < 0) throw new ScriptError(`CHANGELOG.md has no line ${UNRELEASED.trim()}`);
  if (text.includes(`## [${version}]`)) throw new ScriptError(`CHANGELOG.md has ${version} already`);
  const start = at + UNRELEASED.length;
  const next = text.indexOf("\n## [", start);
  const notes = text.slice(start, next < 0 ? undefined : next).trim();
  if (!/^- /m.test(notes)) throw new ScriptError("CHANGELOG.md names nothing unreleased");
  const rest = next < 0 ? "" : text.slice(next);
  const changelog = `${text.slice(0, start)}\n## [${version}] - ${day}\n\n${notes}\n${rest}`;
  return { changelog, notes };
}

/** What the changelog says of a version that was released. Throws {@link ScriptError} when it says nothing. */
export function releasedNotes(text: string, version: string): string {
  const [, notes] = text.split(new RegExp(`^## \\[${RegExp.escape(version)}\\].*\n`, "m"));
  if (notes === undefined) throw new ScriptError(`CHANGELOG.md has no ${version}`);
  return notes.replace(/^## \[[^]*/m, "").trim();
}

/** The page that goes with the files: what is new, and which systems have no binary this time. */
export function notesOf(
  { version, notes, missing }: { version: string; notes: string; missing: readonly string[] },
): string {
  const without = missing.length === 0 ? "" : `\nNo binary this time for: ${missing.join(", ")}.\n`;
  return `# agentcli ${version}\n\n${notes}\n${without}`;
}

const VERSION_LINE = /^(export const VERSION = |\s*"version": )"\d+\.\d+\.\d+"/m;

/** `src/cli/version.ts` or `deno.json` with this version. */
export function withVersion(text: string, version: string): string {
  if (!VERSION_LINE.test(text)) throw new ScriptError("there is no line for the version");
  return text.replace(VERSION_LINE, `$1"${version}"`);
}

/** An install script, or the bundle, that knows this address when none is given. Empty: it is left as it is. */
export function withAddress(script: string, address: string): string {
  if (address === "") return script;
  // What a shell could read as more than a text has no place in an address.
  if (!/^https:\/\/[\w.:/%~+-]+$/.test(address)) throw new ScriptError("the address has a sign that is not possible");
  const changed = script.replace(/^(release_address=)$/m, `$1'${address}'`)
    .replace(/^(\$ReleaseAddress = )''/m, `$1'${address}'`)
    .replace(/^(\s*var RELEASE_ADDRESS\d* = )"";$/m, `$1"${address}";`);
  if (changed === script) throw new ScriptError("the file has no line for the address");
  return changed;
}
