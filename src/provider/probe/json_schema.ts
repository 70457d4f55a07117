/** Does the server hold a reply to a JSON schema? Asked in words that a model without one answers in words. */
import { ProviderFailure } from "../failure.ts";
import { isRecord } from "../record.ts";
import type { ChatReply } from "../types.ts";
import type { JsonSchemaFinding } from "./findings.ts";
import { question, type Subject } from "./subject.ts";

const SCHEMA = {
  type: "object",
  properties: { capital: { type: "string" }, letters: { type: "integer" } },
  required: ["capital", "letters"],
  additionalProperties: false,
};
const FIELD = "response_format";

/** Asks under a schema. A server that names the field in its refusal does not take it. */
export async function checkJsonSchema(subject: Subject, signal: AbortSignal): Promise<JsonSchemaFinding> {
  try {
    const { reply, retries } = await subject.ask({
      messages: question("What is the capital of Norway, and how many letters has its name?"),
      maxTokens: 512,
      params: { [FIELD]: { type: "json_schema", json_schema: { name: "capital", schema: SCHEMA } } },
    }, { signal });
    if (retries.some((reason) => reason.endsWith(`without ${FIELD}`))) return refused();
    return judgeSchemaReply(reply);
  } catch (error) {
    if (error instanceof ProviderFailure && error.kind === "request" && [400, 422].includes(error.facts.status ?? 0)) {
      return refused();
    }
    throw error;
  }
}

/** What a reply under the schema shows. A cut one shows nothing, unless it began with words. */
export function judgeSchemaReply({ text, finish }: Pick<ChatReply, "text" | "finish">): JsonSchemaFinding {
  const problem = schemaProblem(text);
  if (problem === null) return { support: "yes", detail: "" };
  // llama-server holds a small model to the schema, which then writes one string up to the limit.
  const couldFit = finish === "length" && /^\s*(?:\{|$)/.test(text);
  return couldFit
    ? { support: "unclear", detail: "no end before the token limit" }
    : { support: "ignored", detail: problem };
}

function refused(): JsonSchemaFinding {
  return { support: "refused", detail: `the server does not take ${FIELD}` };
}

/** What keeps a text from being what the schema says; null when nothing does. */
export function schemaProblem(text: string): string | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "the reply is no JSON";
  }
  if (!isRecord(value)) return "the reply is no object";
  const fits = typeof value["capital"] === "string" && Number.isInteger(value["letters"]) &&
    Object.keys(value).length === 2;
  return fits ? null : "the reply has other fields than the schema";
}
