import { TextProblem } from "../limits.ts";
import assert from "node:assert/strict";
import * as fc from "../../../tests/property.ts";
import { readTable, removeTable, tableText, writeTable } from "./toml_table.ts";

const AT = ["mcp_servers", "ours"];
const TABLE = tableText(AT, { command: 'C:\\a "b"', args: ["mcp", "serve"] });

/** Files as people have them; ours is in none. */
const FILES: Readonly<Record<string, string>> = {
  empty: "",
  "a byte order mark": "\ufeff",
  settings: 'model = "x" # mine\n',
  "another server":
    '# one\n[mcp_servers.other]\ncommand = "ours"\n\n[mcp_servers.other.env]\nA = "[mcp_servers.ours]"\n',
  "line ends of Windows": 'a = 1\r\n\r\n[mcp_servers.other]\r\nargs = [\r\n  "x", # [mcp_servers.ours]\r\n]\r\n',
  "texts over several lines":
    'a = """\n[mcp_servers.ours]\ncommand = "x"\\"""\n"""\nb = \'\'\'\n[mcp_servers.ours]\'\'\'\n',
  "names in quotes": '[projects."/a/[b].c"]\ntrust_level = "trusted"\n',
  lists: "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = 'command'\n",
  dates: "at = 1979-05-27T07:32:00Z\nnot = nan\nhex = 0xdead_beef\n",
};

for (const [name, text] of Object.entries(FILES)) {
  Deno.test(`a table is put after ${name}, read, replaced and removed again`, () => {
    assert.equal(readTable(text, AT), null);
    const once = writeTable(text, AT, { content: TABLE });
    assert.ok(once.startsWith(text));
    assert.equal(readTable(once, AT), TABLE);
    assert.equal(writeTable(once, AT, { content: TABLE }), once);
    const other = tableText(AT, { command: "y" });
    assert.equal(removeTable(writeTable(once, AT, { content: other }), AT), text);
    assert.equal(text.includes("\r\n"), once.includes('serve"]\r\n'));
  });
}

Deno.test("what others wrote after it stays, and comments between", () => {
  const text = `a = 1\n\n${TABLE}\n\n# theirs\n[mcp_servers.theirs]\ncommand = "x"\n`;
  assert.equal(removeTable(text, AT), 'a = 1\n\n# theirs\n[mcp_servers.theirs]\ncommand = "x"\n');
});

Deno.test("tables below it are no change of it, and go with it", () => {
  const tools = '[mcp_servers.ours.tools.ask]\napproval_mode = "approve"\n';
  const text = `${TABLE}\n\n${tools}\n[z]\na = 1\n\n[mcp_servers."ours".env]\nA = "b"\n`;
  assert.equal(readTable(text, AT), TABLE);
  assert.equal(
    writeTable(text, AT, { content: tableText(AT, { command: "y" }) }),
    text.replace(TABLE, '[mcp_servers.ours]\ncommand = "y"'),
  );
  assert.equal(removeTable(text, AT), "\n[z]\na = 1\n");
});

Deno.test("a table that is written in another form, and what is no TOML, is not touched", () => {
  for (
    const text of [
      'mcp_servers.ours.command = "x"\n',
      '[mcp_servers]\nours = { command = "x" }\n',
      '[mcp_servers]\n"ours".command = "x"\n',
      'mcp_servers = { other = { command = "x" } }\n',
      '[[mcp_servers]]\nname = "x"\n',
      '[mcp_servers.ours.env]\nA = "b"\n',
      "a = [1, 2\n",
      'a = "b\n',
      'a = """b\n',
      "= 1\n",
      "[a\n",
      "a = 1]\n",
      '["mcp_servers"."\\U0000006furs"]\n',
      '["mcp_servers"."\\x6furs"]\n',
    ]
  ) {
    assert.throws(() => writeTable(text, AT, { content: TABLE }), TextProblem, text);
    assert.throws(() => readTable(text, AT), TextProblem, text);
  }
});

Deno.test("any text that ends in line ends comes back, or is refused as it stands", () => {
  const parts = [
    "a = 1\n",
    "# c\n",
    "[t]\n",
    'b = "x"\n',
    "\n",
    'c = [\n "d" ]\n',
    "[[l]]\n",
    "'q' = 'r'\r\n",
    "[mcp_servers.x]\n",
  ];
  fc.assert(fc.property(fc.array(fc.constantFrom(...parts)), (chosen) => {
    const text = `${chosen.join("")}\n`;
    assert.equal(removeTable(writeTable(text, AT, { content: TABLE }), AT), text);
  }));
});

Deno.test("a name with an escape is read as it is meant, and a value with any is left alone", () => {
  assert.equal(readTable('["mcp_servers"."\\u006furs"]\na = 1\n', AT), '["mcp_servers"."\\u006furs"]\na = 1');
  const text = '[mcp_servers.other]\na = "\\U0000006furs"\n';
  assert.equal(readTable(text, AT), null);
  assert.equal(removeTable(writeTable(text, AT, { content: TABLE }), AT), text);
});
