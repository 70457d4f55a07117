/** Checks the protected paths of the project, and whether a sandbox can hide them from commands. */
import { MARKER_NAME, readMarker } from "../../boundary/policy/marker.ts";
import { describeReport } from "../../runtime/marker_report.ts";
import { findCheckedBackend } from "../../boundary/sandbox/self_check.ts";
import { loadConfiguration } from "../../config/load.ts";
import { AgentcliError } from "../../errors.ts";
import { entriesSync } from "../../platform/files.ts";
import { homePath, openHome } from "../../platform/home.ts";
import type { Io } from "../../platform/io.ts";
import { counted } from "../../platform/number.ts";
import { join } from "../../platform/path.ts";
import { exists, quietly } from "../../platform/real_path.ts";
import { openProjectContext, reportOf } from "../secrets/context.ts";
import type { Context } from "../command.ts";
import { type Check, failed } from "./checks.ts";

/** The markers of the project, and the sandbox. */
export async function checkBoundary(context: Context): Promise<Check[]> {
  let markers = 0;
  let boundary: Check;
  try {
    const project = await openProjectContext(context);
    const { root, localEndpoints, protection } = project;
    // Walks the project: markers below its root count too.
    const report = await reportOf(project);
    const found = [...new Set([...nestedMarkers(root), ...protection.markers])];
    markers = found.length;
    const facts = { root, markers: found, local_endpoints: localEndpoints };
    const broken = found.filter((path) => exists(path)).flatMap((path) => {
      const { damaged } = readMarker(path);
      return damaged === undefined ? [] : [`${path}: ${damaged}`];
    });
    const warnings = [
      ...new Set([
        ...protection.warnings,
        ...project.notices,
        ...describeReport(report, root),
      ]),
    ];
    if (broken.length > 0) {
      const message = `a marker is invalid (${broken.join("; ")}); everything counts as protected`;
      const hint = "repair these files, or remove those you did not write";
      boundary = { id: "boundary", state: "fail", message, hint, facts };
    } else {
      const summary = markers === 0
        ? `nothing is protected in ${root}`
        : `protected paths in ${root}: ${counted(markers, "marker")}`;
      const message = [summary, ...warnings].join("; ");
      boundary = warnings.length === 0
        ? { id: "boundary", state: "ok", message, facts }
        : { id: "boundary", state: "warn", message, hint: "agentcli secrets list", facts };
    }
  } catch (error) {
    boundary = failed("boundary", error);
  }
  const sandbox = checkSandbox(context, { needed: markers > 0 });
  // Without a sandbox commands do not run where paths are protected; everything else does.
  return [boundary, await sandbox.catch((error) => ({ ...failed("sandbox", error), state: "warn" as const }))];
}

/** Checks the sandbox by running its self-check, and reports the settings that weaken it. */
async function checkSandbox(context: Context, { needed }: { needed: boolean }): Promise<Check> {
  const { io } = context;
  const settings = await settingsOf(io);
  const facts = { mode: settings?.mode ?? "auto", network: settings?.network ?? false };
  const notes = [
    ...facts.mode === "never" ? ["sandbox.mode is never: outside of protected projects commands see everything"] : [],
    ...facts.network ? ["sandbox.network is true: commands can reach services of this machine"] : [],
  ];
  const found = await checkedBackend(io);
  if ("backend" in found) {
    const { name } = found.backend;
    const message = [`${name} hides protected paths`, ...notes].join("; ");
    return { id: "sandbox", state: "ok", message, facts: { backend: name, ...facts } };
  }
  const { problems } = found;
  const reason = problems.length === 0 ? "no sandbox program is installed" : problems.join("; ");
  const without = needed
    ? "commands do not run in this project"
    : "commands do not run where paths are protected, and in other projects commands of remote models can read those paths";
  return {
    id: "sandbox",
    state: needed ? "warn" : "ok",
    message: [`not available (${reason}): ${without}`, ...notes].join("; "),
    ...needed
      ? {
        hint: io.os === "linux"
          ? "install bubblewrap, and allow user namespaces"
          : "work with Read, Edit, Glob and Grep",
      }
      : {},
    facts: { backend: null, ...facts },
  };
}

/** Null where the configuration cannot be read, which has its own line. */
async function settingsOf(io: Io) {
  try {
    return (await loadConfiguration(await openHome(io))).sandbox;
  } catch (error) {
    if (error instanceof AgentcliError) return null;
    throw error;
  }
}

async function checkedBackend(io: Io): ReturnType<typeof findCheckedBackend> {
  try {
    return await findCheckedBackend({ os: io.os, home: homePath(io) });
  } catch (error) {
    // Without a home, which has its own line.
    if (error instanceof AgentcliError) return { problems: [] };
    throw error;
  }
}

/** The markers below the root: a session stops at the first one that it cannot use. */
function nestedMarkers(root: string): string[] {
  const found: string[] = [];
  const waiting = [root];
  for (const directory of waiting) {
    for (const { name, isDirectory } of quietly(() => entriesSync(directory)) ?? []) {
      if (name === MARKER_NAME) found.push(join(directory, name));
      else if (isDirectory && name !== ".git") waiting.push(join(directory, name));
    }
  }
  return found;
}
