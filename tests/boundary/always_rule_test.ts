/** What is typed at a terminal and kept for later chats, a rule for good or a line, holds nothing protected. */
import assert from "node:assert/strict";
import { ask, say, startFakeServer } from "../helpers/fake_server.ts";
import { configure, temporaryHome } from "../helpers/program.ts";
import { HAS_TMUX, openTerminal } from "../helpers/terminal.ts";

for (const isProtected of [true, false]) {
  const does = isProtected ? "holds only for the chat" : "is stored";
  Deno.test({
    name: `a rule for always ${does} where its command holds content of ${
      isProtected ? "a protected" : "an open"
    } file`,
    ignore: !HAS_TMUX,
    async fn() {
      await using home = await temporaryHome();
      const value = `value${crypto.randomUUID().replaceAll("-", "")}`;
      await home.write(".agentclisecret", `no-cloud: ${isProtected ? ".env" : "other"}\n`);
      await home.write(".env", `TOKEN=${value}\n`);
      const shell = ask({ name: "Bash", input: { command: `echo ${value}` } });
      const read = ask({ name: "Read", input: { file_path: ".env" } });
      await using server = startFakeServer({ script: [read, shell, shell, say("Ran.")] });
      await configure(home, { loc: { baseUrl: server.baseUrl } });
      await using terminal = await openTerminal(["chat", "run it"], { home });
      await terminal.shows(/yes, always in this project/);
      await terminal.press("Down", "Down", "Down", "Enter");
      await terminal.shows(/Allow always in this project/);
      await terminal.press("y");
      const shown = await terminal.shows(/Ran\./);
      assert.equal(/the rule was not written: it may hold/.test(shown.replace(/\s+/g, " ")), isProtected, shown);
      const stored = await Deno.readTextFile(`${home.agentcliHome}/permissions.json`).catch(() => "");
      assert.equal(stored.includes(value), !isProtected);
    },
  });
}

for (const isProtected of [true, false]) {
  const does = isProtected ? "not kept where it holds what a line protects since then" : "kept (control)";
  Deno.test({
    name: `a line that is typed right after a turn is ${does}`,
    ignore: !HAS_TMUX,
    async fn() {
      await using home = await temporaryHome();
      const value = `value${crypto.randomUUID().replaceAll("-", "")}`;
      await home.write(".agentclisecret", "no-cloud: other\n");
      await home.write(".env", `TOKEN=${value}\n`);
      await using server = startFakeServer({ script: [say("Hello."), say("So it is.")] });
      await configure(home, { loc: { baseUrl: server.baseUrl } });
      await using terminal = await openTerminal(["chat", "hello"], { home });
      await terminal.shows(/Hello\./);
      if (isProtected) await home.write(".agentclisecret", "no-cloud: other\nno-cloud: .env\n");
      await terminal.type(`is ${value} right?`);
      await terminal.press("Enter");
      await terminal.shows(/So it is\./);
      await terminal.press("C-d");
      await terminal.shows(/EXIT 0/);
      const history = await Deno.readTextFile(`${home.agentcliHome}/history`).catch(() => "");
      assert.equal(history.includes(value), !isProtected);
    },
  });
}
