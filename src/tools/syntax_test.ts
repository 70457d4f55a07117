import assert from "node:assert/strict";
import { inToolProject, type ToolProject } from "../../tests/helpers/tool_project.ts";
import { editTool } from "./edit/tool.ts";
import { writeTool } from "./write/tool.ts";

/** A directory of programs that stand in for the installed ones, and a context that finds them there. */
async function withPrograms(
  programs: Record<string, string>,
  work: (project: ToolProject, write: (name: string, content: string) => Promise<string>) => Promise<void>,
  options: Parameters<typeof inToolProject>[1] = {},
): Promise<void> {
  const place = await Deno.makeTempDir();
  for (const [name, script] of Object.entries(programs)) {
    await Deno.writeTextFile(`${place}/${name}`, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  await inToolProject(async (project) => {
    const variables: Record<string, string> = { PATH: `${place}:/usr/bin:/bin`, HOME: place };
    const io = {
      ...project.context.io,
      env: (name: string) => name === "PATH" ? place : variables[name],
      environment: () => variables,
    };
    const context = { ...project.context, io };
    await work(
      { ...project, context },
      async (file_path, content) =>
        (await writeTool.run({ file_path, content }, context)).content.split("\n").slice(1).join("\n"),
    );
  }, options);
  await Deno.remove(place, { recursive: true });
}

const unix = { ignore: Deno.build.os === "windows" };

Deno.test("our own parsers tell the line of an error in JSON and YAML, and the file is written", () =>
  inToolProject(async ({ run, text }) => {
    const rows: readonly (readonly [name: string, content: string, says: RegExp | null])[] = [
      ["a.json", '{\n  "a": 1\n  "b": 2\n}\n', /line 3: Expected ',' or '}'/],
      ["b.json", '{"a": [1, 2', /line 1: /],
      ["c.json", '{"a": 1}\n', null],
      ["tsconfig.json", "{ // why\n}\n", null],
      ["d.yaml", "a:\n  - b\n c: [\n", /line \d: /],
      ["e.yml", "a: 1\n---\nb: !Ref c\n", null],
      ["f.yaml", "a: {{ .Values.b }}\n", null],
      ["g.txt", "{", null],
    ];
    for (const [file_path, content, says] of rows) {
      const result = await run(writeTool, { file_path, content });
      assert.equal(result.isError, false);
      if (says === null) assert.doesNotMatch(result.content, /syntax/, file_path);
      else {assert.match(
          result.content,
          new RegExp(`syntax error now: .*${says.source}.*Call Edit to mend it`),
          file_path,
        );}
      assert.equal(await text(file_path), content);
    }
  }));

Deno.test("only an error that the change brought is reported", () =>
  inToolProject(async ({ run, write }) => {
    await write("a.json", '{\n  "a": 1\n  "b": 2,\n  "c": 3\n}\n');
    const edit = async (old_string: string, new_string: string) =>
      (await run(editTool, { file_path: "a.json", old_string, new_string })).content;
    assert.doesNotMatch(await edit('"c": 3', '"c": 4'), /syntax/, "it was there before");
    assert.doesNotMatch(await edit('"a": 1', '"a": 1,'), /syntax/, "it is mended");
    assert.match(await edit('"c": 4', '"c": '), /syntax error now: line 5: /);
  }));

Deno.test("installed programs are asked, with the text on their standard input", unix, () =>
  withPrograms({
    python3: 'read first; echo "1: told of $first"; echo "2: and more"',
    node: "cat >/dev/null; echo '[stdin]:4'; echo 'let a = ;'; echo; echo \"SyntaxError: Unexpected token ';'\"",
    deno: "cat >/dev/null; echo 'error: SyntaxError: Expression expected'; echo '  at file:///x/_stdin.ts:2:17'",
    gofmt: "cat >/dev/null; echo '<standard input>:3:5: expected operand'",
    ruby: "cat >/dev/null; echo '-:7: syntax error, unexpected end'",
    php: "cat >/dev/null; echo 'PHP Parse error:  syntax error, unexpected x in Standard input code on line 3'",
    bash: "cat >/dev/null; echo 'bash: line 2: syntax error: unexpected end of file'",
  }, async (_, write) => {
    assert.match(await write("a.py", "x\n"), /syntax error now: line 1: told of x; line 2: and more\. Call Edit/);
    assert.match(await write("a.js", "x\n"), /line 4: Unexpected token ';'/);
    assert.match(await write("a.tsx", "x\n"), /line 2: Expression expected/);
    assert.match(await write("a.go", "x\n"), /line 3: expected operand/);
    assert.match(await write("a.rb", "x\n"), /line 7: syntax error, unexpected end/);
    assert.match(await write("a.php", "x\n"), /line 3: syntax error, unexpected x/);
    assert.match(await write("a.sh", "x\n"), /line 2: syntax error: unexpected end of file/);
    assert.equal(await write("b.sh", "#!/usr/bin/env zsh\n"), "", "another shell");
  }));

Deno.test(
  "a checker that is missing, slow, floods, or fails says nothing, and the file is written",
  unix,
  () =>
    withPrograms({
      node: "exec sleep 60",
      python3: "exec cat /dev/zero",
      php: "exit 3",
    }, async ({ text }, write) => {
      for (const name of ["a.js", "a.py", "a.php", "a.go", "a.rb", "a.toml"]) {
        assert.equal(await write(name, "x = (\n"), "", name);
        assert.equal(await text(name), "x = (\n");
      }
    }),
);

Deno.test("no program of the project is a checker", unix, () =>
  withPrograms({}, async ({ root, context }) => {
    await Deno.writeTextFile(`${root}/python3`, "#!/bin/sh\necho '1: mine'\n", { mode: 0o755 });
    const io = { ...context.io, env: (name: string) => name === "PATH" ? root : undefined };
    const result = await writeTool.run({ file_path: "a.py", content: "x\n" }, { ...context, io });
    assert.doesNotMatch(result.content, /mine/);
  }));
