/**
 * Loaded before the test files (`deno task test`): every test that sets no limit of its own gets one, so that a test
 * that hangs fails by its name and the others go on. Where files run in groups, the name of a test says which is its.
 * Nothing of git's environment reaches a test: in a hook or under `git bisect`, it names this repository.
 */
for (const name of Object.keys(Deno.env.toObject())) if (/^GIT_/.test(name)) Deno.env.delete(name);

/** Milliseconds: some twenty times what the longest test takes. */
const LIMIT = 300_000;

const GROUPED = Deno.mainModule.includes("/dist/tests/");

type Definition = Partial<Deno.TestDefinition>;

const { test } = Deno;

/** Takes what `Deno.test` takes: a name, settings and a function, in that order, any of them left out. */
function limited(...given: readonly (string | Definition | NonNullable<Definition["fn"]>)[]): void {
  const named: Definition[] = given.map((one) => {
    if (typeof one === "string") return { name: one };
    return typeof one === "function" ? { fn: one, ...(one.name === "" ? {} : { name: one.name }) } : one;
  });
  // A name that is given counts more than that of the function after it.
  const whole = Object.assign({ timeout: LIMIT }, ...named.reverse());
  test({ ...whole, name: GROUPED ? `${fileOfCaller()}: ${whole.name}` : whole.name });
}

function fileOfCaller(): string {
  const root = new URL("../", import.meta.url).href;
  const line = (new Error().stack ?? "").split("\n").find((one) => /_test\.tsx?:/.test(one));
  return line?.split(root)[1]?.replace(/:.*/, "") ?? "";
}

Object.defineProperty(Deno, "test", { value: Object.assign(limited, test) });
