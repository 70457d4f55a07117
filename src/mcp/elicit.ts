/**
 * A form that a server asks a person to fill in: read with care, since it comes from a stranger who wants an answer.
 */
import { fieldsOf, isRecord, type JsonRecord, membersOf, textOf } from "../platform/record.ts";
import { cleanText } from "./tool_info.ts";

export interface FormField {
  name: string;
  title: string;
  description: string;
  type: "string" | "integer" | "number" | "boolean";
  /** The values that it may have; absent for any. */
  choices?: { value: string; label: string }[];
  /** Several of the choices. */
  isMultiple: boolean;
  required: boolean;
  initial?: unknown;
}

export interface ServerForm {
  server: string;
  message: string;
  fields: FormField[];
}

export type FormAnswer = { action: "accept"; content: Record<string, unknown> } | { action: "decline" | "cancel" };

const MOST_FIELDS = 20;
const MOST_CHOICES = 50;
/** Nobody should type these into a form that a server made up. */
const SECRET =
  /pass(?:word|phrase|code)|\bsecret|api.?key|access.?key|private.?key|\btoken\b|credential|\bpin\b|\bcvv|card.?number|\bssn\b/i;

/** Returns the form; null for one that cannot be shown, with the reason where it asks for what no form may ask for. */
export function readForm(server: string, params: JsonRecord): ServerForm | { problem: string } {
  const schema = fieldsOf(params.requestedSchema);
  const required = membersOf(schema.required);
  const entries = Object.entries(fieldsOf(schema.properties)).slice(0, MOST_FIELDS + 1);
  if (entries.length > MOST_FIELDS) return { problem: "asks for too much at once" };
  const fields = entries.map(([name, value]) => fieldOf(name, fieldsOf(value), required.includes(name)));
  const message = cleanText(textOf(params.message) ?? "", 600);
  const secret = fields.find(({ name, title, description }) =>
    SECRET.test(`${name.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[_-]/g, " ")} ${title} ${description}`)
  );
  if (secret !== undefined || (fields.length > 0 && SECRET.test(message))) {
    return { problem: "asks for a key or a password in a form, which no server may" };
  }
  return { server, message, fields };
}

function fieldOf(name: string, schema: JsonRecord, required: boolean): FormField {
  const isMultiple = schema.type === "array";
  const values = isMultiple ? fieldsOf(schema.items) : schema;
  const named = [...membersOf(values.oneOf), ...membersOf(values.anyOf)].flatMap((one) => {
    const { const: value, title } = fieldsOf(one);
    return typeof value === "string" ? [{ value, label: cleanText(textOf(title) ?? value, 80) }] : [];
  });
  const labels = membersOf(values.enumNames);
  const listed = membersOf(values.enum).flatMap((value, at) =>
    typeof value === "string" ? [{ value, label: cleanText(textOf(labels[at]) ?? value, 80) }] : []
  );
  const choices = [...listed, ...named].slice(0, MOST_CHOICES);
  const type = (["integer", "number", "boolean"] as const).find((one) => one === schema.type) ?? "string";
  return {
    name,
    title: cleanText(textOf(schema.title) ?? name, 80),
    description: cleanText(textOf(schema.description) ?? "", 200),
    type,
    isMultiple,
    required,
    choices: choices.length === 0 ? undefined : choices,
    initial: schema.default,
  };
}

/** Returns an answer as the protocol has it. */
export function answerRecord(answer: FormAnswer): JsonRecord {
  return answer.action === "accept" && isRecord(answer.content) ? { ...answer } : { action: answer.action };
}
