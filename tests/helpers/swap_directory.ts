/**
 * Swaps a directory for a link and back, as fast as it can: what somebody does who wants a write to land elsewhere. A
 * program of its own. Arguments: the directory, a directory beside it to keep it in meanwhile, and where the link
 * leads. Ends when its input does, or after twenty seconds.
 */
const [directory = "", kept = "", target = ""] = Deno.args;
const link = `${kept}.link`;
const stop = new AbortController();
void new Response(Deno.stdin.readable).text().then(() => stop.abort());
const end = performance.now() + 20_000;

/** Puts `from` in the place of the directory, which somebody else may have created again in between. */
function putThere(from: string): void {
  for (let time = 0; time < 10_000; time++) {
    try {
      return Deno.renameSync(from, directory);
    } catch {
      try {
        Deno.removeSync(directory, { recursive: true });
      } catch {
        // Changed again: the next try tells.
      }
    }
  }
  throw new Error("the directory cannot be put there");
}

Deno.symlinkSync(target, link);
console.log("ready");
while (!stop.signal.aborted && performance.now() < end) {
  for (let time = 0; time < 20; time++) {
    Deno.renameSync(directory, kept);
    putThere(link);
    Deno.renameSync(directory, link);
    putThere(kept);
  }
  await new Promise((resolve) => setTimeout(resolve));
}
