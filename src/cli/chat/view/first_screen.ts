/** The beginning of a chat: where it runs, which model answers, and what it knows of the project. */
import { modelName } from "../../../config/find.ts";
import { currentBranch } from "../../../boundary/policy/git_directory.ts";
import { productOf } from "../../../config/base_url.ts";
import type { SessionModel } from "../../../agent/session.ts";
import type { Io } from "../../../platform/io.ts";
import { isWithin } from "../../../platform/path.ts";
import type { OpenSession } from "../../../runtime/open_session.ts";
import { clean } from "../../../terminal/clean.ts";
import { type Row, row, span } from "../../../terminal/style.ts";
import { displayWidth, fit, fitEnd } from "../../../terminal/table.ts";
import { tokensText } from "../../run/text_output.ts";
import { VERSION } from "../../version.ts";
import { firstParts, GAP } from "./activity.ts";

/** How the system prompt names the files whose instructions it holds. */
const INSTRUCTIONS = /^Instructions from ((?:.*\/)?(?:AGENTS\.md|\.ide-rules|\.ide\/rules\/.+\.md)):$/gm;

const DRAWN_KEYS = ["/help commands and keys", "Esc stops", "Ctrl-D exits", "@ files"];
/** Where the terminal itself edits the line. */
export const LINE_KEYS: readonly string[] = ["/help commands", "Ctrl-C stops", "Ctrl-D exits", "@ files"];

/**
 * Returns a model as a person calls it: `Ollama (runtime_a) · qwen3:8b`; for a provider that they named, its selector.
 */
export function modelText(
  { provider, product, entry }: Pick<SessionModel, "provider" | "product"> & { entry: { id: string } },
): string {
  const known = product ?? productOf(provider);
  return clean(known === "" ? `${provider}:${entry.id}` : `${known} (${provider}) · ${entry.id}`);
}

/** The program, the place, the model, its instructions, and the keys. */
export function firstScreen(
  { session }: OpenSession,
  { io, width, keys = DRAWN_KEYS }: { io: Io; width: number; keys?: readonly string[] },
): Row[] {
  const { model, system, workspace } = session;
  // Where something is protected, files of git are too.
  const branch = workspace.protection.any ? undefined : currentBranch(workspace.root);
  const place = clean([homeRelative(workspace.cwd, io), ...branch === undefined ? [] : [branch]].join(GAP));
  const where = model.local ? "local" : "remote";
  const files = [...system.text.matchAll(INSTRUCTIONS)].map(([, name = ""]) => clean(name));
  const program = `agentcli ${VERSION}`;
  const whole = modelText({ ...model, entry: { id: modelName(model.entry.id) } });
  const window = `, window of ${tokensText(model.contextWindow)}`;
  const facts = `  ${where}${displayWidth(whole) + where.length + window.length + 2 <= width ? window : ""}`;
  const name = fit(whole, Math.max(width - facts.length, width >> 1));
  return [
    [span(fit(program, width), "bold"), span(`  ${fitEnd(place, Math.max(0, width - program.length - 2))}`, "dim")],
    [span(name, "bold"), span(fit(facts, Math.max(0, width - displayWidth(name))), "dim")],
    ...files.length === 0 ? [] : [row(fit(`instructions: ${files.join(", ")}`, width), "dim")],
    row(firstParts(keys, width), "dim"),
    [],
  ];
}

function homeRelative(path: string, { env }: Pick<Io, "env">): string {
  const home = env("HOME") ?? "";
  return home.length > 1 && isWithin(home, path) ? `~${path.slice(home.length)}` : path;
}
