import { runLargeTurn } from "./helpers/large_turn.ts";

const WINDOWS = [2048, 4096, 8192, 16_384, 32_768];
/** Where the window is not told, 8,192 is assumed. */
const SURPRISING = WINDOWS.slice(0, 3);

for (
  const [dialect, windows] of [
    ["llama.cpp", WINDOWS],
    ["vllm", WINDOWS],
    ["silent", WINDOWS],
    ["named", SURPRISING],
    ["untold", SURPRISING],
    ["silent_untold", SURPRISING],
  ] as const
) {
  for (const window of windows) {
    Deno.test(`a turn that reads large files ends well: ${dialect}, ${window} tokens`, () =>
      runLargeTurn({ window, dialect }));
  }
}
