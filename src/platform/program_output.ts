/** What a small program of the system says, where it may be missing. */

/** Runs `command` to its end; null when it cannot be started (Deno throws that at once, not through the promise). */
export async function outputOf(command: Deno.Command): Promise<Deno.CommandOutput | null> {
  try {
    return await command.output();
  } catch {
    return null;
  }
}
