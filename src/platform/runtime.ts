/** What runs the program. */

/** The runtime, and in which form the program came. */
export interface RuntimeFacts {
  /** Deno's version. */
  version: string;
  /** One binary with the runtime in it, one file of JavaScript, or the sources. */
  form: "binary" | "bundle" | "source";
  /** `linux`, `darwin`, `windows`, with the processor. */
  system: string;
}

/** Asks the runtime. */
export function runtimeFacts(): RuntimeFacts {
  const form = Deno.build.standalone ? "binary" : Deno.mainModule.endsWith(".js") ? "bundle" : "source";
  return { version: Deno.version.deno, form, system: `${Deno.build.os} ${Deno.build.arch}` };
}
