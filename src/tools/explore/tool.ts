/** Explore: a search in a window of its own, of which one short answer comes back. */
import { failure } from "../result.ts";
import type { Tool } from "../tool.ts";
import { exploreDeclaration, type ExploreInput } from "../declarations.ts";

export const exploreTool: Tool<ExploreInput> = {
  ...exploreDeclaration,
  async run({ task }, context) {
    if (task.trim() === "") return failure("The task is empty. Say what to look for, or call Grep.", context);
    if (context.explore === undefined) return failure("Explore is not available here. Call Grep and Read.", context);
    return await context.explore(task);
  },
};
