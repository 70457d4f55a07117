/** Options that stand anywhere on the line, of every verb. */
import { flag, type Options, text } from "./option.ts";

/** By camelCase name, as in {@link Globals}. */
export const GLOBAL_OPTIONS = {
  cwd: text("DIR", "Work in this directory", { group: "Global options", completion: "directory" }),
  json: flag("Print machine-readable JSON on stdout", { group: "Global options" }),
  quiet: flag("Print nothing but results and errors", { group: "Global options" }),
  verbose: flag("Print more, with causes of errors", { group: "Global options" }),
  noColor: flag("Print without colours (NO_COLOR does the same)", { group: "Global options" }),
  yes: flag("Do not ask before changes", { group: "Global options" }),
  help: flag("Print help", { group: "Global options" }),
  version: flag("Print the version", { group: "Global options" }),
} as const satisfies Options;

/** One-letter spellings. `-v` alone at the root is the version (specification, stream-json §1). */
export const SHORT_OPTIONS: Readonly<Record<string, keyof typeof GLOBAL_OPTIONS>> = {
  C: "cwd",
  q: "quiet",
  v: "verbose",
  y: "yes",
  h: "help",
  V: "version",
};
