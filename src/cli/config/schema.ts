/** Prints a JSON Schema: of providers.yaml, or of the events of the protocol. */
import type { Invocation } from "../verb.ts";
import type { SCHEMA_OPTIONS } from "./verb.ts";

/** Runs the verb. */
export async function run({ options, context }: Invocation<typeof SCHEMA_OPTIONS>): Promise<void> {
  await context.io.stdout.write(options.protocol ? await protocolSchema() : await providersSchema());
}

async function providersSchema(): Promise<string> {
  const { schemaText } = await import("../../config/edit.ts");
  return schemaText();
}

async function protocolSchema(): Promise<string> {
  const { eventJsonSchema } = await import("../../protocol/schema.ts");
  return JSON.stringify(eventJsonSchema(), null, 2) + "\n";
}
