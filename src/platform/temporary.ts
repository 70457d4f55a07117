/** Temporary directories of our own, in the system's place for them. */

/** Runs `work` with a fresh directory (a real path, for the owner alone), which is removed afterwards whatever happened. */
export async function withTemporaryDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = Deno.realPathSync(await Deno.makeTempDir({ prefix: "agentcli-" }));
  try {
    return await work(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}
