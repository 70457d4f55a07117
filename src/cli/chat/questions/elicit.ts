/** Forms of MCP servers, filled in by a person in the chat. */
import type { FormAnswer, FormField, ServerForm } from "../../../mcp/elicit.ts";
import { clean } from "../../../terminal/clean.ts";
import { row } from "../../../terminal/style.ts";
import type { ChatView } from "../begin.ts";

/** Lets a person fill in a form, one field after the other; giving up any of them declines it. */
export function elicitInChat(view: ChatView): (form: ServerForm, signal: AbortSignal) => Promise<FormAnswer> {
  return async ({ server, message, fields }, signal) => {
    view.print([row(`The MCP server ${server} asks: ${clean(message)}`, "warning")]);
    const begun = await view.pick({
      title: fields.length === 0 ? `Answer ${server}?` : `Fill in the form of ${server}?`,
      choices: [{ label: "yes" }, { label: "no", note: "the server is told that you decline" }],
    });
    signal.throwIfAborted();
    if (begun === null) return { action: "cancel" };
    if (begun !== 0) return { action: "decline" };
    const content: Record<string, unknown> = {};
    for (const field of fields) {
      const value = await valueOf(field, view);
      signal.throwIfAborted();
      if (value === null) return { action: "cancel" };
      if (value !== undefined) content[field.name] = value;
    }
    return { action: "accept", content };
  };
}

/** Null where the person gave up; undefined for a field that was left out. */
async function valueOf(field: FormField, view: ChatView): Promise<unknown> {
  const { title, description, type, choices, required, initial, isMultiple } = field;
  const words = `${title}${description === "" ? "" : ` (${description})`}`;
  if (choices !== undefined && !isMultiple) {
    const at = await view.pick({ title: clean(words), choices: choices.map(({ label }) => ({ label: clean(label) })) });
    return at === null ? null : choices[at]?.value;
  }
  if (type === "boolean") {
    const at = await view.pick({ title: clean(words), choices: [{ label: "yes" }, { label: "no" }] });
    return at === null ? null : at === 0;
  }
  const shown = initial === undefined ? "" : ` [${clean(String(initial)).slice(0, 60)}]`;
  const given = choices === undefined ? "" : `, of ${choices.map(({ value }) => clean(value)).join(", ")}, with commas`;
  const text = await view.ask(`${clean(words)}${given}${shown}`);
  if (text === null) return null;
  if (text.trim() === "") return initial ?? (required ? null : undefined);
  if (isMultiple) {
    const values = text.split(",").map((one) => one.trim());
    return values.filter((value) => choices?.some((choice) => choice.value === value) !== false);
  }
  return type === "string" ? text : Number.isFinite(Number(text)) ? Number(text) : undefined;
}
