/**
 * Runs one slip of a small model: a server that plays the model, a project of its own, and what must have come of it.
 */
import { runInProcess } from "../../tests/helpers/in_process.ts";
import { configure, type TemporaryHome, temporaryHome } from "../../tests/helpers/home.ts";
import { type RecordedRequest, say, startFakeServer, type Step } from "../../tests/helpers/fake_server.ts";

/** The usual task. */
const TASK = "The function add in calc.py subtracts. Make it add.";

/** The usual file. */
const CALC = "def add(a, b):\n    return a - b\n";

/** A slip, and the task that it happens in. */
export interface Slip {
  kind: string;
  /** Requests that it may take to count as right; more are a round that the user waits for in vain. */
  rounds: number;
  prompt?: string;
  /** Files of the project, beside the usual one. */
  files?: Record<string, string>;
  /** What the model does, whatever it is told. */
  slips: readonly Step[];
  /** What it does next where its last answer has these words; each once. */
  recovers?: readonly (readonly [RegExp, Step])[];
  /** The files afterwards; null for one that may not be there. */
  leaves?: Record<string, string | null>;
  /** What the answer must hold. */
  answers?: RegExp;
  /**
   * Tokens of the server's window; with `cuts`, what is longer is cut without a word, and the model asks what to do.
   */
  window?: number;
  cuts?: boolean;
  /** Longest tool result that the model may be sent, in characters. */
  longest?: number;
  /** Further keys of the model in `providers.yaml`. */
  model?: Record<string, unknown>;
}

/** What became of a slip. */
export interface SlipResult {
  kind: string;
  /** Null when it came right, else what is wrong. */
  wrong: string | null;
  /** Requests for a reply. */
  rounds: number;
}

/** A message of a request. */
interface Sent {
  role: string;
  content: string;
}

/** Bytes to tokens, as the server of a small window counts. */
const BYTES_PER_TOKEN = 4;

/** The model of a row, as the script of a server. */
function modelOf(slip: Slip): (request: RecordedRequest) => Step {
  const coming = [...slip.slips];
  const ways = [...slip.recovers ?? []];
  return ({ json: body, text }) => {
    const messages: Sent[] = body.messages;
    const whole = Math.ceil(text.length / BYTES_PER_TOKEN);
    const usage = { prompt: whole, completion: 20 };
    // A request without tools asks for a summary.
    if (body.tools === undefined && slip.model === undefined) {
      return say("The task: make add in calc.py add.", { usage });
    }
    if (slip.cuts === true && whole > (slip.window ?? Infinity)) {
      // What is left when the oldest messages are gone: the task is not among it.
      const left = Math.ceil(JSON.stringify([body.tools, messages[0], messages.at(-1)]).length / BYTES_PER_TOKEN);
      return say("Hello! What would you like me to do?", { usage: { ...usage, prompt: left } });
    }
    const last = String(messages.at(-1)?.content ?? "");
    const next = coming.shift();
    if (next !== undefined) return withUsage(next, usage);
    const at = ways.findIndex(([words]) => words.test(last));
    const [way] = at === -1 ? [] : ways.splice(at, 1);
    return withUsage(way?.[1] ?? say("That is all."), usage);
  };
}

function withUsage(step: Step, usage: { prompt: number; completion: number }): Step {
  return step.kind === "message" ? { ...step, usage } : step;
}

/** What is wrong with how it ended; null for nothing. */
async function wrongWith(slip: Slip, { home, done, chats }: {
  home: TemporaryHome;
  done: { code: number; stdout: string; stderr: string };
  chats: readonly RecordedRequest[];
}): Promise<string | null> {
  if (done.code !== 0) return `exit code ${done.code}: ${done.stderr.trim().split("\n").at(-1)}`;
  for (const [path, content] of Object.entries(slip.leaves ?? {})) {
    const found = await home.read(path).catch(() => null);
    if (found !== content) return `${path} is not as it should be`;
  }
  if (slip.answers !== undefined && !slip.answers.test(done.stdout)) return "another answer";
  const results = chats.flatMap(({ json }) => json.messages as Sent[]).filter(({ role }) => role === "tool");
  const longest = Math.max(0, ...results.map(({ content }) => content.length));
  if (slip.longest !== undefined && longest > slip.longest) return `a result of ${longest} characters`;
  return chats.length > slip.rounds ? `${chats.length} requests, ${slip.rounds} would do` : null;
}

/** Runs one row in a project of its own. */
export async function runSlip(slip: Slip): Promise<SlipResult> {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: modelOf(slip) });
  for (const [path, content] of Object.entries({ "calc.py": CALC, ...slip.files })) await home.write(path, content);
  // A server that cuts tells a larger window than it has.
  const window = slip.cuts === true ? 32_768 : slip.window ?? 32_768;
  const model = { id: "fake", context_window: window, ...slip.model };
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [model] } });
  const words = ["run", slip.prompt ?? TASK, "--permission-mode", "bypassPermissions", "--max-turns", "12"];
  const done = await runInProcess(words, { home });
  const chats = server.chats();
  return {
    kind: slip.kind,
    rounds: chats.length,
    wrong: await wrongWith(slip, { home, done, chats }),
  };
}
