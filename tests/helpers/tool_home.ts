/** A home of the tool for unit tests: opened through the real code, in a fresh directory. */
import { type Home, openHome } from "../../src/platform/home.ts";
import { join } from "../../src/platform/path.ts";

/** A home with `providers.yaml` as given (none for null); `await using` removes it. */
export interface ToolHome extends AsyncDisposable {
  home: Home;
  /** The text of providers.yaml now. */
  providers(): Promise<string>;
}

/** Opens a fresh home. */
export async function toolHome(text: string | null): Promise<ToolHome> {
  const root = await Deno.makeTempDir();
  const path = join(root, "home");
  const env = (name: string) => name === "AGENTCLI_HOME" ? path : undefined;
  const home = await openHome({ env, os: "linux" });
  if (text !== null) {
    await Deno.mkdir(path, { mode: 0o700 });
    await Deno.writeTextFile(home.file("providers.yaml"), text, { mode: 0o600 });
  }
  return {
    home,
    providers: () => Deno.readTextFile(home.file("providers.yaml")),
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}
