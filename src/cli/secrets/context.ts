/** The project as the commands see it: its protected set, and the provider that a session would use. */
import { isLocal, localityReason } from "../../boundary/policy/locality.ts";
import { type MarkerReport, reportMarkers } from "../../runtime/marker_report.ts";
import { linksTo, openProject, projectRootOf, recordSeen } from "../../boundary/policy/project.ts";
import type { ProjectRecord } from "../../boundary/policy/project_record.ts";
import { ProtectedSet } from "../../boundary/policy/protected.ts";
import { describeRule, type ProtectionRule } from "../../boundary/policy/protection_rule.ts";
import { effectiveBaseUrl } from "../../config/base_url.ts";
import { usualSelection } from "../../config/select.ts";
import { DEMO } from "../../config/find.ts";
import { AgentcliError } from "../../errors.ts";
import { realPathSync } from "../../platform/files.ts";
import { openHome } from "../../platform/home.ts";
import { normalize } from "../../platform/path.ts";
import { namesCloudModel } from "../../provider/backends/elsewhere.ts";
import { clean } from "../../terminal/clean.ts";
import type { Context } from "../command.ts";
import { configured, snakeKeys, warn } from "../result.ts";

/** Entries of the project that are read for a report. */
const ENTRY_LIMIT = 500_000;

export interface ProjectContext {
  root: string;
  /** The working directory as a real path, as the root is one. */
  cwd: string;
  protection: ProtectedSet;
  /** The values of `local-endpoints:` that have an effect. */
  localEndpoints: readonly string[];
  /** Null where there is no home that can be used. */
  record: ProjectRecord | null;
  /** For the user, one sentence each. */
  notices: string[];
}

/**
 * Opens the project of the working directory as a session would, including what was protected and has moved.
 * With `create` it is recorded in the home as a session would do.
 */
export async function openProjectContext(
  context: Context,
  { create = false }: { create?: boolean } = {},
): Promise<ProjectContext> {
  const { root, localEndpoints, records, notices } = await projectAt(context, { create });
  const links = linksTo([context.globals.cwd], context.io);
  const protection = await ProtectedSet.open([root], { remembered: records, links });
  // Other projects know the protected files of this one by its record.
  if (create) await recordSeen(protection, records);
  const cwd = normalize(realPathSync(context.globals.cwd) ?? context.globals.cwd);
  return { root, cwd, protection, localEndpoints, record: records[0] ?? null, notices };
}

async function projectAt({ io, globals }: Context, { create }: { create: boolean }) {
  // Which paths are protected does not depend on the home, as long as nothing is remembered in it.
  const home = create ? await openHome(io) : await openHome(io).catch(() => null);
  return await openProject(home, projectRootOf(globals.cwd, io), { create });
}

interface ProviderView {
  name: string;
  baseUrl: string;
  local: boolean;
  reason: string;
}

/**
 * The provider that `--model`, the environment or the settings choose; or a sentence about why there is none. Asks no
 * server.
 */
export async function viewProvider(
  model: string | undefined,
  { context, localEndpoints }: { context: Context; localEndpoints: readonly string[] },
): Promise<ProviderView | string> {
  const { io } = context;
  try {
    const { configuration } = await configured(context);
    const { provider, model: { id } } = await usualSelection(configuration, { option: model, env: io.env });
    const isCloud = namesCloudModel(id);
    if (provider.name === DEMO) return { name: DEMO, baseUrl: "", local: true, reason: "part of this program" };
    const baseUrl = effectiveBaseUrl(provider, io.env);
    return {
      name: provider.name,
      baseUrl,
      local: isLocal(baseUrl, localEndpoints) && !isCloud,
      reason: isCloud ? `${id} is a cloud model by its name` : localityReason(baseUrl, localEndpoints),
    };
  } catch (error) {
    // Which paths are protected does not depend on it; but a provider that was named must be one.
    if (!(error instanceof AgentcliError) || model !== undefined) throw error;
    // Every call would list all providers.
    return error.message.replace(/; available: .*$/s, "");
  }
}

/** The provider as one line. */
export function providerText(view: ProviderView | string): string {
  if (typeof view === "string") return `provider: none (${clean(view)})`;
  const place = view.local ? "local" : "remote";
  const isDemo = view.baseUrl === "";
  const may = `it may read no-cloud paths${isDemo ? "" : " if it runs there"}`;
  const address = isDemo ? "" : ` (${clean(view.baseUrl)})`;
  const reads = view.local ? may : "no-cloud paths are refused to it";
  return `provider: ${view.name}${address} is ${place}: ${clean(view.reason)}; ${reads}`;
}

/** The provider for `--json`. */
export function providerJson(view: ProviderView | string): unknown {
  return typeof view === "string" ? { name: null, problem: view } : snakeKeys(view);
}

/** A rule for `--json`. */
export function ruleJson(rule: ProtectionRule, root: string): Record<string, unknown> {
  const { tier, pattern, marker, line, damaged } = rule;
  return { tier, pattern, marker, line, text: describeRule(rule, root), damaged };
}

/** Evaluates the lines of the markers. */
export function reportOf({ protection, root }: ProjectContext): Promise<MarkerReport> {
  return reportMarkers(protection, { roots: [root], limit: ENTRY_LIMIT });
}

/** Prints warnings about the markers to stderr. */
export async function warnOfMarkers({ protection, notices }: ProjectContext, context: Context): Promise<void> {
  for (const warning of new Set([...protection.warnings, ...notices])) {
    await warn(context, warning);
  }
  const { damaged } = protection;
  if (damaged !== null) {
    await warn(context, `${damaged.marker} cannot be used (${damaged.damaged}); everything counts as protected`);
  }
}

/** Prints whether a base URL is local: loopback, or opted in by the marker of the project that the directory is in. */
export async function localityOf(context: Context): Promise<(baseUrl: string) => boolean> {
  const localEndpoints = await localEndpointsOf(context);
  return (baseUrl) => isLocal(baseUrl, localEndpoints);
}

/** Returns the values of `local-endpoints:` that have an effect in the project that the directory is in. */
export async function localEndpointsOf(context: Context): Promise<readonly string[]> {
  return (await projectAt(context, { create: false })).localEndpoints;
}
