/**
 * A turn that reads large files in small windows of a real llama-server, which counts each prompt with its own
 * tokenizer and template and refuses what does not fit; only what the model says is scripted.
 */
import assert from "node:assert/strict";
import { runLargeTurn } from "../helpers/large_turn.ts";
import { startLlama } from "./llama_server.ts";

for (const window of [2048, 4096, 8192, 16_384, 32_768]) {
  Deno.test(`a turn that reads large files ends well with --ctx-size ${window}`, async () => {
    await using llama = await startLlama({ contextWindow: window });
    await runLargeTurn({
      window,
      dialect: "llama.cpp",
      // It reads some hundred tokens a second where it has no more than a processor.
      deadlineMs: 240_000,
      async ask({ stream_options: _, ...body }) {
        const answer = await fetch(`${llama.baseUrl}/chat/completions`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ ...body, stream: false, max_tokens: 1 }),
        });
        const text = await answer.text();
        if (!answer.ok) return { kind: "status", status: answer.status, body: text };
        const { prompt_tokens: tokens } = JSON.parse(text).usage;
        assert.ok(tokens > 0 && tokens < window, `${tokens} tokens`);
        return tokens;
      },
    });
  });
}
