/**
 * Identifies a server by the name that it gives itself in the header `server` of its responses. Part of every turn,
 * unlike the list of backends, which is loaded when a server has to be recognized.
 */

/** Returns whether the server reports what its chat template drops. */
export function reportsTemplate(server: string): boolean {
  return server === "llama.cpp";
}

/**
 * Returns a clause for messages, where the server accepts any name for the model that it has and has served another
 * one than was requested; else null.
 */
export function whyOtherModel(server: string, requested: string, served: string | null): string | null {
  const isOther = served !== null && plainName(served) !== plainName(requested);
  return isOther && server === "llama.cpp" ? "a llama-server with one model takes any name" : null;
}

/** A model's name without the directory and the ending of its file. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/^.*[\\/]/, "").replace(/\.gguf$/, "");
}
