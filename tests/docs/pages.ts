/** What the pages take for granted: a project, a configuration, something that was done before; and what is not run. */
import { REPOSITORY } from "../helpers/program.ts";

/** How the commands of a page are run. */
export interface PageSetting {
  /** Each block begins where the setup ended; else where the block before it ended, as for a reader. */
  fresh?: boolean;
  /** Run before the first block. */
  setup: string;
  /** What a reader puts in place of a word. */
  placeholders?: Record<string, string>;
  /** Run before the blocks with these words. */
  before?: Record<string, string>;
  /** What the output of the blocks with these words has to match. */
  expected?: Record<string, RegExp>;
  /** `agentcli` is what the page installs; else the program under test is there from the beginning. */
  installs?: boolean;
}

const PUMP = "export const PORT = 4711;\n\nexport function start() {\n  return listen(PORT);\n}\n";

const PROJECT = `
mkdir -p src secrets keys
echo '# Pumps' > README.md; cp '${REPOSITORY}/main.ts' .; echo 'export const PORT = 4711;' > src/pump.ts
echo 'TOKEN=canary-1234567890' > .env; echo 'a secret line' > secrets/note; echo 'a key' > keys/a.pem
printf -- '---\\nname: reviewer\\ndescription: Reviews a change\\n---\\nLook for mistakes.\\n' > reviewer.md
echo 'Short sentences.' > style.md; echo GGUF > model.gguf
git init -q; git add README.md main.ts; git -c user.name=a -c user.email=a@b commit -q -m 'Begin'
echo '// more' >> main.ts; git diff > changes.diff
`;

/** A reader whose path has a space in it would quote it; the test goes by a link without one. */
const CLONE = `ln -s '${REPOSITORY}' "$HOME/clone"\n`;

const CONFIGURED = `
agentcli init-providers
agentcli config set default_provider runtime_a --yes
agentcli config set default_model qwen3:8b --yes
agentcli providers model add runtime_a qwen3:8b --role main
agentcli providers model add runtime_b qwen3:8b --role main
`;

const ENGINE = "agentcli providers add engine_e --base-url http://localhost:1919/v1 --api-key local --model my-model";

const GUARD = "agentcli editor add hook no-cloud-guard";

/** What others wrote for an editor. */
const THEIRS = `mkdir -p .ide/rules
printf -- '---\\ntrigger: always_on\\n---\\nBe short.\\n' > .ide/rules/style.md
echo '{"hooks": {"post_write_code": [{"command": "bash .ide/format.sh"}]}}' > .ide/hooks.json`;

/** A page that is not named here has a project and a configuration. */
export const PAGES: Record<string, PageSetting> = {
  "README.md": { setup: CLONE + PROJECT, placeholders: { "<clone>": "$HOME/clone" } },
  "docs/permissions.md": { setup: CLONE + PROJECT + CONFIGURED, placeholders: { "<clone>": "$HOME/clone" } },
  "docs/air-gapped.md": {
    // The medium is the project's directory: the release, and the script beside it.
    setup: `cp -a "$RELEASE/." .; cp '${REPOSITORY}/scripts/install.sh' .`,
    placeholders: { FOLDER: "." },
    installs: true,
    expected: { "--from": /is installed: .*\/home\/\.local\/bin\/agentcli/, "--uninstall": /is uninstalled/ },
  },
  "docs/cli.md": {
    fresh: true,
    setup: `${PROJECT}${CONFIGURED}
      agentcli run --model demo --session-id 1f0c0000-0000-4000-8000-000000000000 'Read README.md'
      printf '#!/bin/sh\\necho a-key-of-the-store\\n' > "$HOME/../bin/pass"; chmod +x "$HOME/../bin/pass"`,
    before: {
      "providers remove engine_e": ENGINE,
      "providers set-key engine_e": ENGINE,
      "providers unset-key engine_e": ENGINE,
      "secrets allow-fragment .env:1": "agentcli secrets add .env",
      "secrets check .env src": "agentcli secrets add .env src",
      "mcp remove files": "agentcli mcp add files -- true",
      "mcp import": `mkdir -p ~/.cursor ~/.codex; echo '{"mcpServers":{"a":{"command":"true"}}}' > ~/.cursor/mcp.json
        printf '[mcp_servers.b]\\ncommand = "true"\\n' > ~/.codex/config.toml`,
      "editor show hook:no-cloud-guard": GUARD,
      "editor remove hook:no-cloud-guard": GUARD,
      "editor import": THEIRS,
      "editor add skill review":
        "mkdir -p skills/review; printf -- '---\\nname: review\\ndescription: d\\n---\\n' > skills/review/SKILL.md; echo x > notes.md",
    },
  },
  "docs/editor.md": { setup: PROJECT, before: { "editor import": THEIRS } },
  "docs/no-cloud.md": {
    setup: "true",
    expected: {
      "--model away": /exit code 6/,
      // All that is connected to is this machine.
      strace: /^(?![^]*inet_addr\("(?!127\.0\.0\.1"))[^]*inet_addr\("127\.0\.0\.1"\)/,
    },
  },
};

/** What a page has that is named nowhere else. */
export const OTHER_PAGE: PageSetting = { setup: PROJECT + CONFIGURED };

/** The directory that the sessions shown in the README were recorded in. */
export const SHOWN_SETUP = `cat > pump.ts <<'END'\n${PUMP}END\n`;

/** Commands that are not run, known by words of them, and why. */
export const NOT_RUN: readonly { page: string; words: string; why: string }[] = [
  { page: "docs/cli.md", words: "agentcli mcp set-key", why: "it needs a keyring; keys_test.ts has one" },
  { page: "docs/cli.md", words: "agentcli mcp release", why: "it asks a person; mcp_held_test.ts has one" },
  { page: "docs/cli.md", words: "agentcli mcp keep", why: "it needs an answer; mcp_held_test.ts has one" },
  { page: "docs/cli.md", words: "agentcli mcp allow", why: "it asks a person; mcp_serve_structure_test.ts has one" },
  { page: "docs/cli.md", words: "agentcli mcp show files", why: "it starts a server; mcp_commands_test.ts has one" },
  { page: "docs/cli.md", words: "agentcli mcp test files", why: "it starts a server; mcp_commands_test.ts has one" },
  {
    page: "docs/cli.md",
    words: "agentcli mcp approve files",
    why: "it needs a project's server; mcp_commands_test.ts has one",
  },
  {
    page: "docs/cli.md",
    words: "agentcli upgrade\n",
    why: "a build without an address needs one; upgrade_test.ts has one",
  },
  { page: "docs/cli.md", words: "agentcli upgrade --from", why: "its address is an example" },
  { page: "README.md", words: "sh scripts/try.sh", why: "it sets up Deno from npm; .ci/run runs it" },
  { page: "README.md", words: "sh scripts/test.sh", why: "it is what runs this; .ci/run runs it" },
  { page: "README.md", words: "sh scripts/build.sh", why: "it writes into the checkout; .ci/run runs it" },
  { page: "README.md", words: "--bundle --from dist", why: "it needs the bundle; .ci/run runs it" },
  {
    page: "docs/air-gapped.md",
    words: "scripts/build.sh compile",
    why: "it fetches a base binary; scripts/compile/smoke.sh has one",
  },
  { page: "docs/air-gapped.md", words: "compile/smoke.sh", why: "it fetches from npm; .ci/run runs it" },
  { page: "docs/performance.md", words: "deno ", why: "it builds, or measures for minutes" },
  { page: "docs/recipes.md", words: "acpx", why: "it needs packages of npm; deno task test-clients runs them" },
  { page: "docs/cli.md", words: "agentcli sandbox --", why: "it needs a sandbox; sandbox_command_test.ts has one" },
  {
    page: "docs/cli.md",
    words: "quarantine restore",
    why: "it needs something to put back; quarantine_test.ts has it",
  },
  { page: "docs/cli.md", words: "serve --engine runtime_a", why: "it starts an engine; local_model_test.ts does so" },
  { page: "docs/cli.md", words: "--detach", why: "it starts an engine; local_model_test.ts does so" },
  { page: "docs/cli.md", words: "local-model stop runtime_d", why: "it ends an engine; local_model_test.ts does so" },
  { page: "docs/cli.md", words: "providers set-key engine_e\n", why: "it needs a keyring; keys_test.ts has one" },
];
