/** Prints what is protected: the whole project, or the paths that are named. */
import { describeRule, type ProtectionRule } from "../../boundary/policy/protection_rule.ts";
import { isWithin, relativeTo, resolve } from "../../platform/path.ts";
import { clean } from "../../terminal/clean.ts";
import { print, warn } from "../result.ts";
import type { Invocation } from "../command.ts";
import {
  openProjectContext,
  type ProjectContext,
  providerJson,
  providerText,
  reportOf,
  ruleJson,
  viewProvider,
  warnOfMarkers,
} from "./context.ts";
import type { SECRETS_OPTIONS } from "../boundary_commands.ts";
import { describeReport, doubtOf } from "../../runtime/marker_report.ts";
import { lstatSync } from "../../platform/files.ts";
import { realOrNamed, walkedPath } from "../../platform/real_path.ts";

/** Runs the command. Walks the project; asks no server. */
export async function listProtected({ options, context }: Invocation<typeof SECRETS_OPTIONS>): Promise<void> {
  const project = await openProjectContext(context);
  const { root, protection, localEndpoints } = project;
  const { files, directories } = await protection.hidden();
  const found = [
    ...directories.map((path) => ({ path, name: `${relativeTo(root, path)}/` })),
    ...files.map((path) => ({ path, name: relativeTo(root, path) })),
  ].flatMap(({ path, name }) => {
    const rule = protection.rule(path);
    return rule === null ? [] : [{ path, name, rule }];
  }).sort((one, other) => one.path < other.path ? -1 : 1);
  const { idle, namesakes, unjudged } = await reportOf(project);
  const provider = await viewProvider(options.model, { context, localEndpoints });
  const json = {
    root,
    markers: protection.markers,
    protected: found.map(({ path, rule }) => ({
      path,
      kind: directories.includes(path) ? "directory" : "file",
      rule: ruleJson(rule, root),
    })),
    absent: idle.map((rule) => ({ ...ruleJson(rule, root), doubt: doubtOf(rule.pattern) })),
    uncovered: namesakes,
    not_judged: unjudged,
    local_endpoints: localEndpoints,
    provider: providerJson(provider),
  };
  const open = "not covered; another file of that name is protected";
  // Of a linked worktree the main tree, and beside a project what the same marker above both of them protects.
  const isOwn = ({ path, rule: { copyOf, targetOf, marker } }: typeof found[number]) =>
    [path, marker, copyOf ?? targetOf ?? protection.linkTo(path) ?? marker].some((place) => isWithin(root, place));
  const own = found.filter(isOwn);
  const others = found.length - own.length;
  const rows = [
    ...own.map(({ name, rule }) => [clean(name), rule.tier, clean(describeRule(rule, root))]),
    ...idle.map((rule) => ["(no match yet)", rule.tier, clean(doubted(rule, root))]),
    ...namesakes.map((path) => [clean(relativeTo(root, path)), "open", open]),
  ];
  await print(context, {
    json,
    table: [["PATH", "TIER", "BY"], ...rows],
    notes: others === 0 ? [] : [`these markers protect ${others} more outside of this project (--json names them)`],
    none: "nothing is protected here; mark a path with `agentcli secrets add <path>`",
    text: `${providerText(provider)}\n`,
  });
  for (const { directory, reason } of unjudged) {
    await warn(context, `${relativeTo(root, directory)}: ${reason}; commands do not see it`);
  }
  await warnOfMarkers(project, context);
}

function doubted(rule: ProtectionRule, root: string): string {
  const doubt = doubtOf(rule.pattern);
  return describeRule(rule, root) + (doubt === null ? "" : ` (${doubt})`);
}

/** Reports whether each path is protected. Returns 1 if one is not. */
export async function checkPaths(
  { options, arguments: words, context }: Invocation<typeof SECRETS_OPTIONS>,
): Promise<number> {
  const { cwd } = context.globals;
  const project = await openProjectContext(context);
  const checked = [];
  for (const word of words) {
    const path = resolve(cwd, word);
    // The system follows a link before it goes up from it; a tool may take `..` as text.
    const walked = walkedPath(word, cwd);
    const rule = ruleOf(path, project) ?? (walked === null ? null : ruleOf(walked, project));
    checked.push({ word, path, rule });
  }
  const provider = await viewProvider(options.model, { context, localEndpoints: project.localEndpoints });
  const paths = checked.map(({ path, rule }) => ({
    path,
    protected: rule !== null,
    rule: rule === null ? null : ruleJson(rule, project.root),
  }));
  const lines = checked.map(({ word, rule }) =>
    rule === null
      ? `${clean(word)}: not protected\n`
      : `${clean(word)}: protected (${clean(describeRule(rule, project.root))})\n`
  );
  await print(context, {
    json: { paths, provider: providerJson(provider) },
    text: lines.join("") + providerText(provider) + "\n",
  });
  await warnOfMarkers(project, context);
  for (const line of describeReport(await reportOf(project), project.root)) await warn(context, line);
  return checked.every(({ rule }) => rule !== null) ? 0 : 1;
}

function ruleOf(path: string, { protection }: ProjectContext): ProtectionRule | null {
  const real = realOrNamed(path);
  const status = lstatSync(real);
  const found = status?.kind === "file" ? protection.ruleOfFile(status, real) : protection.rule(real);
  return found ?? protection.rule(path);
}
