/** Installs an agent persona as a skill, since the editors have no files for sub-agents. */
import { fieldText, readFrontmatter } from "../../editor/resources/markdown.ts";
import { makeSkill } from "../../editor/resources/make_artifact.ts";
import { AgentcliError } from "../../errors.ts";
import type { Invocation } from "../verb.ts";
import { carryOut } from "./carry_out.ts";
import { readContent } from "./content.ts";
import { openScene } from "./scene.ts";
import type { PERSONA_OPTIONS } from "./verb.ts";

/** The first line of the text, for a persona that does not say what it is for. */
function firstLine(body: string): string {
  return body.split("\n").map((line) => line.replace(/^#+\s*/, "").trim()).find((line) => line !== "") ?? "";
}

/** Takes name and description over; fields that skills do not have are left out. */
export async function run(
  { options, arguments: words, context }: Invocation<typeof PERSONA_OPTIONS>,
): Promise<number> {
  const [name = ""] = words;
  if (options.from === undefined) throw new AgentcliError("usage", "editor persona needs --from <file>");
  const scene = await openScene(options, context);
  const matter = readFrontmatter(await readContent(options.from, scene));
  const description = (fieldText(matter, "description") || firstLine(matter.body)).slice(0, 900);
  const head = `---\nname: ${name}\ndescription: ${
    JSON.stringify(`${description} (Take this role when asked for ${name}.)`)
  }\n---\n\n`;
  const text = `${head}Take the following role for this task.\n\n${matter.body.trim()}\n`;
  const files = [{ path: "SKILL.md", bytes: new TextEncoder().encode(text), executable: false }];
  const to = { dialect: scene.dialect, places: scene.places(options.scope ?? "project") };
  const add = [makeSkill(name, files, { to })];
  return await carryOut({ add, remove: [], keep: () => false, force: options.force }, scene, options);
}
