/** Bash: one command, bounded in time and output, without keys in its environment. */
import { type ProcessOptions, run } from "../../platform/process.ts";
import { quarantineNotice } from "../../boundary/sandbox/sandbox.ts";
import { runWatched } from "../../boundary/sandbox/watched_run.ts";
import { failure } from "../result.ts";
import type { Tool, ToolContext, ToolResult } from "../tool.ts";
import { childEnvironment, inSandbox, type Sandboxed, sandboxReason, shellFor } from "./start.ts";
import { bashDeclaration, type BashInput } from "./declaration.ts";

export type { BashInput };

const DEFAULT_TIMEOUT_MS = 120_000;
const LONGEST_TIMEOUT_MS = 600_000;
/** Nobody means a longer one, and a shell takes it line by line. */
const LONGEST_COMMAND = 100_000;

const REDACTED =
  "[a protected path was created or replaced meanwhile, and the command could see it: the command was ended, its output " +
  "from then on is redacted, and what it changed is protected. Run the command again]";

/** Runs commands; where paths are protected in the sandbox, or not at all: a command could read them past every rule. */
export const bashTool: Tool<BashInput> = {
  ...bashDeclaration,
  async run(input, context) {
    context.signal.throwIfAborted();
    const problem = precheck(input);
    if (problem !== null) return failure(problem, context);
    const { workspace, io } = context;
    const shell = await shellFor(input.command, { io, roots: [workspace.root, ...workspace.additional] });
    if (shell === null) return failure("There is no shell on this machine. Use Read, Edit, Glob and Grep.", context);
    return await runCommand(shell, { input, context });
  },
};

function precheck(input: BashInput): string | null {
  if (input.command.trim() === "") return "The command is empty. Send the shell command to run as command.";
  if (input.command.includes("\0")) return "The command holds a NUL byte. Send it again without.";
  return new TextEncoder().encode(input.command).length <= LONGEST_COMMAND
    ? null
    : "The command is longer than 100,000 bytes. Write it to a file with Write and run the file.";
}

/** Models mix up the unit; nobody means a command of less than a second. */
function timeoutOf(input: BashInput): number {
  const given = input.timeout ?? DEFAULT_TIMEOUT_MS;
  if (given <= 0) return DEFAULT_TIMEOUT_MS;
  return Math.min(given < 1_000 ? given * 1_000 : given, LONGEST_TIMEOUT_MS);
}

async function runCommand(
  { argv, stdin }: NonNullable<Awaited<ReturnType<typeof shellFor>>>,
  call: { input: BashInput; context: ToolContext },
): Promise<ToolResult> {
  const { input, context } = call;
  const output = new BoundedOutput(context.resultBytes);
  const timeoutMs = timeoutOf(input);
  const reason = await sandboxReason(context);
  const sandboxed = reason === null ? null : await inSandbox(argv, { context, reason });
  if (typeof sandboxed === "string") return failure(sandboxed, context);
  const options = { stdin, signal: context.signal, timeoutMs, onOutput: (bytes: Uint8Array) => output.add(bytes) };
  const outcome = sandboxed === null
    ? { ...await run({ ...options, ...unsandboxed(argv, context) }), exposed: null, quarantined: [] }
    : await runWatched(sandboxed.command, context.workspace.protection, options);
  const { exposed } = outcome;
  const text = output.text();
  const notes = (sandboxed?.command.notices ?? []).map((notice) => `[${notice}]`);
  for (const entry of outcome.quarantined) {
    notes.push(`[moved to quarantine, since only the user may create them: ${entry.paths.join(", ")}]`);
    await context.notify?.(quarantineNotice("a command", entry));
  }
  if (outcome.ended === "abort" && exposed === null) notes.push("[ended: it made such files again and again]");
  if (exposed !== null) {
    notes.push(REDACTED);
    await context.protectChanges?.(exposed.since, exposed.paths[0] ?? "");
  }
  if (outcome.ended === "abort") context.signal.throwIfAborted();
  if (outcome.ended === "timeout") {
    notes.push(
      `[ended after ${timeoutMs / 1000} s: time limit${
        timeoutMs < LONGEST_TIMEOUT_MS ? `; a higher timeout allows more, at most ${LONGEST_TIMEOUT_MS} ms` : ""
      }]`,
    );
  } else if (outcome.code !== 0 && exposed === null) notes.push(`[exit code ${outcome.code}]`);
  if (outcome.ended === "timeout" || outcome.code !== 0) {
    notes.push(...missed(text, { misses: sandboxed?.misses, timedOut: outcome.ended === "timeout" }));
  }
  if (outcome.leftovers) notes.push("[background processes of the command were ended]");
  const shown = text === "" && notes.length === 0 ? ["(no output)"] : [text.trimEnd(), ...notes];
  return {
    content: shown.filter((part) => part !== "").join("\n"),
    isError: outcome.ended !== "exit" || outcome.code !== 0 || exposed !== null,
    label: context.workspace.ambientLabel,
    details: { exitCode: outcome.code, timedOut: outcome.ended === "timeout" },
  };
}

/** As it is: where nothing is protected. */
function unsandboxed(argv: [string, ...string[]], context: ToolContext): Pick<ProcessOptions, "argv" | "env" | "cwd"> {
  const env = childEnvironment(context.io.environment(), context.secretVariables);
  return { argv, env, cwd: context.workspace.root };
}

const NO_NETWORK =
  /ENOTFOUND|EAI_AGAIN|ENETUNREACH|resolve host|name resolution|name or service not known|network is unreachable/i;

/** Says to a model what its command could not find: it would try again, and other ways around it. */
function missed(
  text: string,
  { misses = { git: false, network: false }, timedOut }: {
    misses: Sandboxed["misses"] | undefined;
    timedOut: boolean;
  },
): string[] {
  return [
    ...misses.git && /not a git repository/i.test(text) ? ["[commands do not see .git here: use the Git tool]"] : [],
    ...misses.network && (timedOut || NO_NETWORK.test(text)) ? ["[commands have no network here]"] : [],
  ];
}

/** Most bytes kept of the beginning, and as many of the end. */
export const KEPT_BYTES = 10 * 1024;

/** Collects bytes; an endless stream costs no more than a short one. */
export class BoundedOutput {
  readonly #kept: number;
  readonly #head: Uint8Array;
  /** Twice the size, so that bytes move only once per full end. */
  readonly #tail: Uint8Array;
  #headLength = 0;
  #tailLength = 0;
  #total = 0;

  /** Keeps at most `limit` bytes, half of the beginning and half of the end. */
  constructor(limit: number) {
    this.#kept = Math.min(KEPT_BYTES, Math.floor(limit / 2));
    this.#head = new Uint8Array(this.#kept);
    this.#tail = new Uint8Array(2 * this.#kept);
  }

  /** Takes the next bytes. */
  add(bytes: Uint8Array): void {
    this.#total += bytes.length;
    const forHead = bytes.subarray(0, this.#kept - this.#headLength);
    this.#head.set(forHead, this.#headLength);
    this.#headLength += forHead.length;
    const rest = bytes.subarray(forHead.length).subarray(-this.#kept);
    if (this.#tailLength + rest.length > this.#tail.length) {
      const keep = this.#kept - Math.min(rest.length, this.#kept);
      this.#tail.copyWithin(0, this.#tailLength - keep, this.#tailLength);
      this.#tailLength = keep;
    }
    this.#tail.set(rest, this.#tailLength);
    this.#tailLength += rest.length;
  }

  /** The text; between beginning and end stands how many bytes were left out. */
  text(): string {
    const head = this.#head.subarray(0, this.#headLength);
    const tail = this.#tail.subarray(Math.max(0, this.#tailLength - this.#kept), this.#tailLength);
    const left = this.#total - head.length - tail.length;
    const decoder = new TextDecoder();
    if (left === 0) {
      const all = new Uint8Array(head.length + tail.length);
      all.set(head);
      all.set(tail, head.length);
      return decoder.decode(all);
    }
    // A cut can fall inside a character; its halves are worth nothing.
    const start = decoder.decode(head).replace(/\uFFFD{1,3}$/, "");
    const end = decoder.decode(tail).replace(/^\uFFFD{1,3}/, "");
    const note = `[${left.toLocaleString("en-US")} bytes omitted; redirect the output to a file to see all of it]`;
    return `${start}\n${note}\n${end}`;
  }
}
