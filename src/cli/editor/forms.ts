/** What `editor add` makes, and which of its options have an effect on what. */
import { isScaffold, SCAFFOLDS } from "../../editor/hooks/scaffold_ids.ts";
import { AgentcliError } from "../../errors.ts";
import { kebabCase } from "../normalize.ts";
import type { Values } from "../verb.ts";
import type { ADD_OPTIONS, CHANGE_OPTIONS } from "./verb.ts";

/** Everything that is made in a way of its own, as it is called in messages. */
const FORMS = {
  rule: "a rule",
  globalRule: "a rule with --scope user: it is a section of the global rules, which has no frontmatter",
  workflow: "a workflow",
  skill: "a skill",
  skillFolder: "a skill whose content is a folder",
  ownHook: "a hook of your own",
  scaffold: "a hook that comes with the program",
  server: "a server whose content is JSON",
  serverProgram: "a server that is a program",
  serverAddress: "a server at an address",
  instructions: "instructions",
} as const;

type Form = keyof typeof FORMS;

/** The options that do not hold for everything. A new option does not compile before it stands here. */
const EFFECTS: Readonly<Record<Exclude<keyof typeof ADD_OPTIONS, keyof typeof CHANGE_OPTIONS | "scope">, Form[]>> = {
  file: ["rule", "globalRule", "workflow", "skill", "server", "instructions"],
  dir: ["skillFolder"],
  shared: ["skill", "skillFolder"],
  trigger: ["rule"],
  globs: ["rule"],
  description: ["rule", "workflow"],
  event: ["ownHook", "scaffold"],
  command: ["ownHook", "serverProgram"],
  powershell: ["ownHook"],
  showOutput: ["ownHook"],
  workingDirectory: ["ownHook"],
  set: ["scaffold"],
  arg: ["serverProgram"],
  env: ["serverProgram"],
  serverUrl: ["serverAddress"],
  header: ["serverAddress"],
};

function formOf(
  kind: string,
  name: string,
  { scope, dir, file, serverUrl, command }: Values<typeof ADD_OPTIONS>,
): Form {
  switch (kind) {
    case "rule":
      return scope === "user" ? "globalRule" : "rule";
    case "workflow":
      return "workflow";
    case "skill":
      return dir === undefined ? "skill" : "skillFolder";
    case "hook":
      return isScaffold(name) ? "scaffold" : "ownHook";
    case "mcp":
      if (file !== undefined) return "server";
      return serverUrl !== undefined ? "serverAddress" : command !== undefined ? "serverProgram" : "server";
    default:
      return "instructions";
  }
}

/** Throws `usage` for options that were given and have no effect on what is to be made. */
export function refuseIdleOptions(kind: string, name: string, options: Values<typeof ADD_OPTIONS>): void {
  const form = formOf(kind, name, options);
  const entries = Object.entries(EFFECTS).map(([key, forms]) => {
    const value = options[key as keyof typeof EFFECTS];
    const isGiven = typeof value === "object" ? value.length > 0 : value !== undefined && value !== false;
    return { shown: `--${kebabCase(key)}`, isGiven, hasEffect: forms.includes(form) };
  });
  const idle = entries.filter(({ isGiven, hasEffect }) => isGiven && !hasEffect).map(({ shown }) => shown);
  if (idle.length === 0) return;
  const others = entries.filter(({ hasEffect }) => hasEffect).map(({ shown }) => shown);
  const parameters = isScaffold(name) && form === "scaffold" ? SCAFFOLDS[name].parameters : null;
  const hint = parameters === null
    ? `it takes ${others.join(", ")}`
    : `set ${
      parameters.join(" or ")
    } of ${name} with --set name=value; a hook with another name runs a command of your own`;
  throw new AgentcliError(
    "usage",
    `${idle.join(" and ")} ${idle.length === 1 ? "has" : "have"} no effect on ${FORMS[form]}`,
    {
      hint,
    },
  );
}
