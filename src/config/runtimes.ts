/** The local servers known by name: the one home of their ids, default ports and addresses (seed, first table and §4.2). */

/** A local server and where it listens unless told otherwise. */
export interface Runtime {
  /** Provider name and discovery label. */
  id: string;
  /** The server that listens on this port by default. */
  product: string;
  port: number;
  /** Whether `init-providers` asks this port. */
  probed: boolean;
  /** What is written to `base_url`. */
  baseUrl: string;
  /** What is written to `api_key`. */
  apiKey: string;
}

/** In the order in which they are probed and listed. */
export const RUNTIMES: readonly Runtime[] = [
  runtime("runtime_a", "Ollama", { port: 11434, probed: true }),
  runtime("runtime_b", "LM Studio", { port: 1234, probed: true }),
  runtime("runtime_c", "vLLM", { port: 8000, probed: true }),
  runtime("runtime_d", "llama.cpp server", { port: 8080, probed: true }),
  runtime("engine_e", "mini-sglang", { port: 1919, probed: false }),
  // The studio needs a real key, so discovery cannot see its models; its block is always written instead.
  { ...runtime("studio_f", "Unsloth Studio", { port: 8888, probed: false }), apiKey: "$STUDIO_F_API_KEY" },
];

/** The provider whose base URL an environment variable overrides, and which is written as a comment where it is not met. */
export const STUDIO = {
  id: "studio_f",
  baseUrlVariable: "STUDIO_F_BASE_URL",
  keyVariable: "STUDIO_F_API_KEY",
} as const;

function runtime(id: string, product: string, place: { port: number; probed: boolean }): Runtime {
  return { id, product, ...place, baseUrl: `http://localhost:${place.port}/v1`, apiKey: "local" };
}
