/**
 * The context of the editor commands: the project, the user's home, the editor, and the home of agentcli with the
 * ownership index.
 */
import { once } from "../../platform/sleep.ts";
import { findProjectRoot } from "../../boundary/policy/project.ts";
import { isAssistant } from "../../editor/assistants.ts";
import type { Dialect, DialectId, Scope } from "../../editor/dialect.ts";
import { chooseDialect, dialectsHere, type LookupOptions, type Places, placesOf } from "../../editor/places.ts";
import { type Installed, type Ledger, readLedger } from "../../editor/plan/ledger.ts";
import { AgentcliError } from "../../errors.ts";
import { realPathSync } from "../../platform/files.ts";
import { type Home, openHome, userHomeOf } from "../../platform/home.ts";
import { isWithin, normalize, relativeTo, resolve } from "../../platform/path.ts";
import type { Context, Values } from "../command.ts";
import type { PLACE_OPTIONS } from "./command.ts";
import type { Protection } from "./protection.ts";

/** Everything a command reads. */
export interface EditorContext {
  context: Context;
  around: LookupOptions;
  dialect: Dialect;
  /** An assistant for which something is installed, in place of the editor. */
  shownDialect?: string;
  /** Other editors that the project has files of, where none was chosen. */
  otherDialects: readonly DialectId[];
  home: Home;
  /** As it was when the command began. */
  ledger: Ledger;
  /** The artifacts of the ledger that belong to this project, this user or this machine. */
  installed: Installed[];
  places(scope: Scope): Places;
  /** Returns whether an artifact is one of them. */
  isHere(installed: Pick<Installed, "scope" | "base">): boolean;
  /** A path for messages: relative to the project where it is below it, else to the home as `~`. */
  shown(path: string): string;
  /** Opens the protected set on first use. */
  protection(): Promise<Protection>;
}

/** Collects the context. Throws `home_unusable` where there is no home directory. */
export async function openEditorContext(
  options: Partial<Values<typeof PLACE_OPTIONS>>,
  context: Context,
): Promise<EditorContext> {
  const { io, globals } = context;
  const named = userHomeOf(io);
  const real = named === undefined ? null : realPathSync(named);
  if (real === null) {
    throw new AgentcliError("home_unusable", "no home directory: HOME is not set to a directory", {
      hint: "set HOME: it holds the user's editor settings",
    });
  }
  const programData = io.env("ProgramData");
  const around: LookupOptions = {
    root: await findProjectRoot(globals.cwd, named),
    userHome: normalize(real),
    os: io.os,
    ...(programData === undefined ? {} : { programData: normalize(programData) }),
    ...(options.systemDir === undefined ? {} : { systemDirectory: resolve(globals.cwd, options.systemDir) }),
  };
  const home = await openHome(io);
  const ledger = await readLedger(home);
  const used = ledger.artifacts.flatMap(({ scope, base, dialect }) =>
    scope === "project" && base === around.root && !isAssistant(dialect) ? [dialect] : []
  );
  const dialect = chooseDialect(options.dialect, around, { used });
  const isSure = options.dialect !== undefined || used.includes(dialect.id);
  const otherDialects = isSure ? [] : dialectsHere(around).filter((id) => id !== dialect.id);
  const bases = [around.root, around.userHome];
  try {
    bases.push(placesOf(dialect, "system", around).base);
  } catch {
    // An unknown system directory holds nothing of ours.
  }
  const isHere = ({ base }: Pick<Installed, "base">) => bases.includes(base);
  return {
    context,
    around,
    dialect,
    otherDialects,
    home,
    ledger,
    installed: ledger.artifacts.filter(isHere),
    places: (scope) => placesOf(dialect, scope, around),
    isHere,
    shown: (path) =>
      !isWithin(around.root, path) && isWithin(around.userHome, path)
        ? `~/${relativeTo(around.userHome, path)}`
        : relativeTo(around.root, path),
    protection: once(async () => {
      const { openProtection } = await import("./protection.ts");
      return await openProtection({ root: around.root, cwd: globals.cwd, userHome: around.userHome }, io);
    }),
  };
}
