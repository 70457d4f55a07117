/**
 * The black-box harness of the boundary: a project with canaries, the real program against servers that play a local
 * and a remote provider, and a look at everything that left it. Each attack is run twice: against the remote provider,
 * where nothing may leak, and as a control against the local one, where the canary must arrive, or the case proves
 * nothing.
 */
import { joined } from "../../src/platform/text.ts";
import assert from "node:assert/strict";
import { nameBehindTemporary } from "../../src/platform/files.ts";
import { basename, dirname, join } from "../../src/platform/path.ts";
import { type FakeServer, type FakeServerOptions, type Script, startFakeServer } from "../helpers/fake_server.ts";
import { runInProcess } from "../helpers/in_process.ts";
import {
  configure,
  type Finished,
  type RunOptions,
  startProgram,
  type TemporaryHome,
  temporaryHome,
} from "../helpers/program.ts";
import { type Canary, LeakScan, makeCanary, TreeScan } from "./leakscan.ts";
import { type Sink, startSink } from "./sink.ts";
import { watch } from "./watch.ts";

export { type Canary, LeakScan, makeCanary, TreeScan } from "./leakscan.ts";
export { type Sink, startSink } from "./sink.ts";

/** The marker of a stage that names none. */
export const MARKER = "no-cloud: .env\nno-cloud: secrets\n";

/** `loc` is 127.0.0.1, `loc6` is [::1], `rem` is 127.0.0.2; `lan` is as `rem`, for markers that opt it in. */
export type ProviderName = "loc" | "loc6" | "rem" | "lan";

const HOSTS = { loc: "127.0.0.1", loc6: "[::1]", rem: "127.0.0.2", lan: "127.0.0.2" } as const;

/** One run of the program. */
export interface Play {
  script: Script;
  /** The prompt; null for none. Default: `go`. */
  prompt?: string | null;
  /** Further arguments of `run`. */
  args?: readonly string[];
  /** In place of `run … --model <provider>`. */
  argv?: readonly string[];
  stdin?: string;
  env?: Record<string, string | null>;
  cwd?: string;
  /**
   * In a process of its own: for what the runtime does by itself (proxies and other variables that it reads), and for
   * {@link Played.started}. Default: for what has `env`.
   */
  process?: boolean;
  /** Further keys of providers.yaml, and further providers. */
  settings?: Record<string, unknown>;
  providers?: Parameters<typeof configure>[1];
  /** Of the provider's block: model ids, keys. */
  block?: Partial<Parameters<typeof configure>[1][string]>;
  server?: Omit<FakeServerOptions, "host" | "script">;
  /** Called when the chat request of this index has arrived; the server answers after it. */
  during?: { index: number; work(): Promise<void> };
}

/** What came of a run. */
export interface Played {
  provider: ProviderName;
  done: Finished;
  requests: FakeServer["requests"];
  /** Content of the tool results of the last request, in order. */
  results: string[];
  /** Capabilities that were asked for and not offered. */
  absent: string[];
  /** Connections that the provider's server got. */
  connections: number;
  /** Connections that the sink got. */
  sinkConnections: number;
  /** What the provider's server got, as text. */
  sent: string;
  /** Finds by place; all must be empty for a remote provider, all but `wire` and `output` for a local one. */
  leaks: { wire: string[]; sink: string[]; disk: string[]; output: string[]; processes: string[] };
  /** Command lines of processes that were started. */
  started: string[];
}

/** A project with canaries. `await using` removes it. */
export interface Stage extends AsyncDisposable {
  home: TemporaryHome;
  project: string;
  canaries: Canary[];
  sink: Sink;
  /** The canary of that name; the last that was planted. */
  canary(name: string): string;
  /** Writes a protected file that holds a canary of its own; `path` is relative to the project or absolute. */
  plant(path: string, name: string, around?: (canary: string) => string): Promise<string>;
  /** Writes another file of the project. */
  write(path: string, content: string): Promise<string>;
  /** Leaves a path out of the look at the disk, what lies below it and while it is written anew: hard links, `.git`. */
  exempt(path: string): void;
  git(...args: string[]): Promise<void>;
  play(provider: ProviderName, play: Play): Promise<Played>;
}

/** How a stage is set up. */
export interface StageOptions {
  /**
   * Text of the marker; null for none. Default {@link MARKER}, with `.env` (canary `env`) and `secrets/k.txt` (`key`).
   */
  marker?: string | null;
  /** Leave `.env` and `secrets/k.txt` out. */
  bare?: boolean;
  /** Make a repository and commit everything before the marker is written. */
  git?: boolean;
}

/** Sets up a stage. */
export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const home = await temporaryHome();
  const sink = startSink();
  const stage = new RealStage(home, sink);
  if (options.bare !== true) {
    await stage.plant(".env", "env", (canary) => `API_TOKEN=${canary}\n`);
    await stage.plant("secrets/k.txt", "key");
    await stage.write("pub.txt", "PUB_marker public text\n");
  }
  if (options.git === true) {
    await stage.git("init", "--quiet", "--initial-branch=main");
    await stage.git("add", "--all");
    await stage.git("commit", "--quiet", "--message=first");
    stage.exempt(".git");
  }
  if (options.marker !== null) await stage.write(".agentclisecret", options.marker ?? MARKER);
  return stage;
}

class RealStage implements Stage {
  readonly canaries: Canary[] = [];
  readonly #exempt = new Set<string>();

  constructor(readonly home: TemporaryHome, readonly sink: Sink) {}

  get project(): string {
    return this.home.project;
  }

  #place(path: string): string {
    return path.startsWith("/") ? path : `${this.project}/${path}`;
  }

  canary(name: string): string {
    const found = this.canaries.findLast((canary) => canary.name === name);
    if (found === undefined) throw new Error(`no canary ${name}`);
    return found.value;
  }

  async plant(path: string, name: string, around = (canary: string) => `${canary}\n`): Promise<string> {
    const canary = makeCanary(name);
    this.canaries.push(canary);
    const place = await this.write(path, around(canary.value));
    this.exempt(place);
    return place;
  }

  async write(path: string, content: string): Promise<string> {
    const place = this.#place(path);
    await Deno.mkdir(place.slice(0, place.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(place, content);
    return place;
  }

  exempt(path: string): void {
    this.#exempt.add(this.#place(path));
  }

  #isExempt(path: string): boolean {
    const behind = nameBehindTemporary(basename(path));
    return this.#exempt.has(path) || (behind !== null && this.#exempt.has(join(dirname(path), behind)));
  }

  async git(...args: string[]): Promise<void> {
    const output = await new Deno.Command("git", {
      args: ["-c", "user.name=Tester", "-c", "user.email=tester@example.test", ...args],
      cwd: this.project,
      env: { HOME: this.home.home, GIT_CONFIG_NOSYSTEM: "1" },
    }).output();
    assert.ok(output.success, new TextDecoder().decode(output.stderr));
  }

  async play(provider: ProviderName, play: Play): Promise<Played> {
    const { script } = play;
    const { during } = play;
    const meanwhile = during === undefined ? undefined : Promise.withResolvers<void>();
    const gated: Script = during === undefined || meanwhile === undefined ? script : (request) => {
      const step = typeof script === "function" ? script(request) : script[request.index] ?? { kind: "empty" };
      if (request.index !== during.index) return step;
      during.work().then(meanwhile.resolve, meanwhile.reject);
      return { kind: "gated", gate: meanwhile.promise, then: step };
    };
    await using server = startFakeServer({ ...play.server, host: HOSTS[provider], script: gated });
    await configure(this.home, {
      [provider]: { baseUrl: server.baseUrl, ...play.block },
      ...play.providers,
    }, play.settings);
    const prompt = play.prompt === undefined ? ["go"] : play.prompt === null ? [] : [play.prompt];
    const argv = play.argv ?? ["run", ...prompt, "--model", provider, ...play.args ?? []];
    const scan = new LeakScan(this.canaries);
    const { root } = this.home;
    const tree = new TreeScan(scan, { roots: [root], skip: (path) => this.#isExempt(path) });
    const sunk = this.sink.received().length;
    const sinkBefore = this.sink.connectionCount();
    const options = {
      home: this.home,
      ...(play.cwd === undefined ? {} : { cwd: play.cwd }),
      ...(play.env === undefined ? {} : { env: play.env }),
      ...(play.stdin === undefined ? {} : { stdin: play.stdin }),
    };
    // Of this process the children of other tests are looked at too: the canaries of this one are in none of them.
    // Another form of the program is a child in any case, and its own command line may hold what the user said.
    const inProcess = !(Deno.env.get("AGENTCLI_BIN") || (play.process ?? play.env !== undefined));
    const program = inProcess
      ? { pid: Deno.pid, finished: runInProcess(argv, options) }
      : startWithInput(argv, options);
    const processes = await watch(program.finished, { pid: program.pid, scan, tree });
    const done = await program.finished;
    const sent = joined(server.received());
    return {
      provider,
      done,
      requests: server.requests,
      results: resultsOf(server),
      absent: server.absent,
      connections: server.connectionCount(),
      sinkConnections: this.sink.connectionCount() - sinkBefore,
      sent: new TextDecoder().decode(sent),
      leaks: {
        wire: await scan.bytes(sent),
        sink: await scan.bytes(this.sink.received().slice(sunk)),
        disk: [...tree.found],
        output: scan.text(done.stdout + done.stderr),
        processes: [...processes.leaks],
      },
      started: [...processes.started],
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sink[Symbol.asyncDispose]();
    await this.home.dispose();
  }
}

function startWithInput(argv: readonly string[], options: RunOptions): { pid: number; finished: Promise<Finished> } {
  const program = startProgram(argv, options);
  const give = async () => {
    if (options.stdin !== undefined) await program.write(options.stdin);
    await program.closeInput();
  };
  void give();
  return program;
}

function resultsOf(server: FakeServer): string[] {
  const messages: unknown = server.chats().at(-1)?.json?.messages;
  if (!Array.isArray(messages)) return [];
  return messages.filter((message) => message.role === "tool").map((message) => String(message.content));
}

/** O1, O2, O3, O6: nothing left. For a local provider its own wire and the printed answer do not count. */
export function assertSealed(played: Played, what = ""): void {
  const { wire, sink, disk, output, processes } = played.leaks;
  const local = played.provider === "loc" || played.provider === "loc6" || played.provider === "lan";
  assert.deepEqual(
    { wire: local ? [] : wire, sink, disk, output: local ? [] : output, processes },
    { wire: [], sink: [], disk: [], output: [], processes: [] },
    `${what} (${played.provider}) let something out`,
  );
}

/** O4 for a run that ended: exit 6, and a message that names what is asked for and what to do. */
export function assertRefusedRun(played: Played, named: RegExp): void {
  const { done } = played;
  assert.equal(done.code, 6, done.stderr);
  assert.match(done.stdout + done.stderr, named);
  assert.match(done.stdout + done.stderr, /local/);
  assert.deepEqual(played.leaks.output, []);
}

/** O4 for a tool result: it names the rule with the file and line that it stands in. */
export function assertRefusedResult(result: string | undefined, what: string): void {
  assert.ok(result !== undefined, `${what}: no result`);
  assert.match(result, /\.agentclisecret:\d+ (no-cloud|list-only): |marker/, what);
}

/** O5: nobody was talked to. */
export function assertSilent(played: Played): void {
  assert.equal(played.connections, 0, "the provider was connected to");
  assert.equal(played.sinkConnections, 0, "the sink was connected to");
}

/** O7: the local server got the canary. */
export function assertArrived(played: Played, canary: string): void {
  assert.ok(played.sent.includes(canary), `the control is empty: the canary did not arrive\n${played.done.stderr}`);
}
