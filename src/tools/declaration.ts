/** What a session needs of a tool before it is called, and the rest when it is. */
import type { Tool } from "./tool.ts";

/** A tool without what it does. */
// deno-lint-ignore no-explicit-any -- as in Tool
export type ToolDeclaration<Input = any> = Omit<Tool<Input>, "run" | "objection">;

/**
 * A tool whose code is loaded at its first call. What most turns do not call (a quarter of the code on the way to the
 * first request) then costs no start.
 */
export function loadedLater<Input>(
  declaration: ToolDeclaration<Input>,
  load: () => Promise<Tool<Input>>,
): Tool<Input> {
  return {
    ...declaration,
    run: async (input, context) => await (await load()).run(input, context),
    objection: async (input, context) => await (await load()).objection?.(input, context) ?? null,
  };
}
