import assert from "node:assert/strict";
import { notesOf, releasedChangelog, releasedNotes, withAddress, withVersion } from "./text.ts";

const CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- New.\n\n## [0.1.0] - 2026-01-01\n\n- Old.\n";
const OF = { version: "0.2.0", day: "2026-02-02" };

Deno.test("a release takes what is unreleased, and leaves an empty heading for what comes", () => {
  const { changelog, notes } = releasedChangelog(CHANGELOG, OF);
  assert.equal(notes, "### Added\n\n- New.");
  assert.equal(
    changelog,
    "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-02-02\n\n### Added\n\n- New.\n\n## [0.1.0] - 2026-01-01\n\n- Old.\n",
  );
  assert.throws(() => releasedChangelog(changelog, { ...OF, version: "0.3.0" }), /nothing unreleased/);
  assert.throws(() => releasedChangelog(changelog, OF), /has 0\.2\.0 already/);
});

Deno.test("the notes of a version are found again in the changelog", () => {
  const { changelog, notes } = releasedChangelog(CHANGELOG, OF);
  assert.equal(releasedNotes(changelog, "0.2.0"), notes);
  assert.equal(releasedNotes(changelog, "0.1.0"), "- Old.");
  assert.throws(() => releasedNotes(changelog, "0.3.0"), /has no 0\.3\.0/);
});

Deno.test("the notes of a release say which systems have no binary", () => {
  const of = { version: "0.2.0", notes: "- New." };
  assert.equal(notesOf({ ...of, missing: [] }), "# agentcli 0.2.0\n\n- New.\n");
  assert.equal(
    notesOf({ ...of, missing: ["a", "b"] }),
    "# agentcli 0.2.0\n\n- New.\n\nNo binary this time for: a, b.\n",
  );
});

Deno.test("the first release needs no older one", () => {
  const { changelog } = releasedChangelog("## [Unreleased]\n\n- New.\n", OF);
  assert.equal(changelog, "## [Unreleased]\n\n## [0.2.0] - 2026-02-02\n\n- New.\n");
});

Deno.test("the version is written where the sources and deno.json have it", async () => {
  for (const path of ["../../src/cli/version.ts", "../../deno.json"]) {
    const text = await Deno.readTextFile(new URL(path, import.meta.url));
    assert.match(withVersion(text, "9.8.7"), /"9\.8\.7"/);
  }
  assert.throws(() => withVersion("", "9.8.7"), /no line for the version/);
});

Deno.test("the address goes into both install scripts, and nothing but an address does", async () => {
  for (const name of ["../install.sh", "../install.ps1"]) {
    const text = await Deno.readTextFile(new URL(name, import.meta.url));
    assert.match(withAddress(text, "https://example.com/r"), /'https:\/\/example\.com\/r'\n/);
    assert.equal(withAddress(text, ""), text);
    assert.throws(() => withAddress(text, "https://example.com/'; rm -r /"), /sign that is not possible/);
  }
});
