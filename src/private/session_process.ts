/**
 * The session of a question in a process of its own, which is killed when the answer is due. Whatever the model makes
 * it do (a long search, or use up its memory), the server continues, and its answers come in time.
 */
import { orAborted } from "../platform/sleep.ts";
import { fieldsOf } from "../platform/record.ts";
import type { OwnProcess } from "../platform/process.ts";
import { methodNotFound, RPC_CODES, RpcError, type RpcParams } from "../rpc/message.ts";
import { RpcPeer, type RpcStream } from "../rpc/peer.ts";
import type { HeardElsewhere, HeardSigns } from "../provider/backends/localities.ts";
import type { PrivateSession, SessionRights, TaskStep } from "./service.ts";

/** Longest text that is taken from a session. */
const TEXT_LIMIT = 256 * 1024;
const OPTIONS = { cancel: { method: "cancel", isAnswered: false }, lineLimit: 4 * 1024 * 1024 };

/** How a session is opened; null where no model is proven to run here. */
export type OpenPrivate = (rights: SessionRights, signal: AbortSignal) => Promise<PrivateSession | null>;

/**
 * Opens a session in a process started for it, which ends with it. What it learns of servers outlives it in `heard`.
 */
export async function openInProcess(
  process: OwnProcess,
  { rights, heard }: { rights: SessionRights; heard: HeardSigns },
  signal: AbortSignal,
): Promise<PrivateSession | null> {
  let hear = (_: TaskStep) => {};
  const peer = new RpcPeer(process, {
    request: (method) => Promise.reject(methodNotFound(method)),
    notification: (method, { step, sign }) =>
      method === "heard" ? heard.take([sign as HeardElsewhere]) : hear(step as TaskStep),
  }, OPTIONS);
  peer.run().catch(() => {}).finally(() => peer.close());
  const ask = async <T>(method: string, parts: RpcParams, end = signal) =>
    fieldsOf(await peer.request(method, parts, end)).value as T;
  const close = async () => {
    peer.close();
    await process.kill();
  };
  try {
    if (await orAborted(ask<boolean>("open", { rights, heard: heard.heardElsewhere() }), signal)) {
      return {
        problem: (paths) => orAborted(ask("problem", { paths }), signal),
        answer: (asked, signal) => ask("answer", { asked }, signal),
        text: (asked, signal) => ask("text", { asked }, signal),
        openText: (asked, signal) => ask("openText", { asked }, signal),
        perform(task, onStep, signal) {
          hear = onStep;
          return ask("perform", { task }, signal);
        },
        close,
      };
    }
  } catch {
    // As where there is none: nobody may know which.
  }
  await close();
  return null;
}

/** Serves one session to the process that started this one, until that ends. */
export async function serveSession(
  stream: RpcStream,
  { open, heard }: { open: OpenPrivate; heard: HeardSigns },
): Promise<void> {
  const opened: { session: PrivateSession | null } = { session: null };
  const peer: RpcPeer = new RpcPeer(stream, {
    async request(method, params, { signal }) {
      if (method === "open") {
        heard.take(params.heard as HeardElsewhere[]);
        heard.onNew = (sign) => void peer.notify("heard", { sign }).catch(() => {});
        opened.session = await open(params.rights as SessionRights, signal);
        return { value: opened.session !== null };
      }
      if (opened.session === null) throw methodNotFound(method);
      return { value: await perform(opened.session, { method, params, signal, peer }) };
    },
    notification: () => {},
  }, OPTIONS);
  await peer.run();
  await opened.session?.close();
}

interface Call {
  method: string;
  params: RpcParams;
  signal: AbortSignal;
  peer: RpcPeer;
}

/** The parameters are as this program wrote them. */
async function perform(session: PrivateSession, { method, params, signal, peer }: Call): Promise<unknown> {
  const asked = params.asked as Parameters<PrivateSession["answer"]>[0];
  try {
    switch (method) {
      case "problem":
        return await session.problem(params.paths as string[]);
      case "answer":
        return await session.answer(asked, signal);
      case "text":
        return (await session.text(asked, signal)).slice(0, TEXT_LIMIT);
      case "openText": {
        const opened = await session.openText(asked, signal);
        return "text" in opened ? { text: opened.text.slice(0, TEXT_LIMIT) } : opened;
      }
      case "perform": {
        const task = params.task as Parameters<PrivateSession["perform"]>[0];
        return await session.perform(task, (step) => void peer.notify("step", { step }).catch(() => {}), signal);
      }
    }
  } catch (error) {
    // For the user, where a text is held.
    throw new RpcError(
      RPC_CODES.internalError,
      error instanceof Error ? error.message.slice(0, TEXT_LIMIT) : "unknown",
    );
  }
  throw methodNotFound(method);
}
