/** `text`: what the model says on stdout as it comes; calls, notices and figures on stderr. */
import type { Io } from "../../platform/io.ts";
import { traceLabel } from "../../protocol/label_trace.ts";
import type { TurnEvent, TurnResult } from "../../protocol/turn_event.ts";
import { clean } from "../../terminal/clean.ts";
import { createPacedOutput } from "../../terminal/paced_output.ts";
import { createProgress } from "../../terminal/progress.ts";
import { showError } from "../show_error.ts";
import { AgentcliError } from "../../errors.ts";
import type { TurnOutput } from "./output.ts";
import { eventLine, figures, missingPermission } from "./text_lines.ts";

/** What text output depends on. */
export interface TextOptions {
  quiet: boolean;
  verbose: boolean;
}

/** Prints for a person, or for a script that wants the answer alone on stdout. */
export function textOutput(io: Io, options: TextOptions): TurnOutput {
  const progress = createProgress(io, options);
  // A terminal gets no control characters from a model; a pipe gets the bytes as they are.
  const shown = io.stdout.isTerminal ? (text: string) => clean(text, { multiline: true }) : (text: string) => text;
  let atLineStart = true;
  /** What stdout ends with is of a reply that is not complete. */
  let open = false;
  const denied = new Set<string>();
  const trace = traceLabel();
  const paced = createPacedOutput(io.stdout);
  let waited = false;
  const wait = (label: string) => {
    waited = true;
    progress.start(label);
  };
  const stopWaiting = async () => {
    waited = false;
    await progress.stop();
  };
  /** A piece of the answer; nothing is waited for but a reader that is too slow. */
  const stream = (text: string): void | Promise<void> => {
    atLineStart = text.endsWith("\n");
    open = true;
    if (!waited) return paced.write(shown(text));
    return stopWaiting().then(() => paced.write(shown(text)));
  };
  const say = async (text: string) => {
    await stream(text);
    await paced.settled();
  };
  const settle = async () => {
    await stopWaiting();
    await paced.settled();
  };
  const tell = async (line: string) => {
    await settle();
    if (options.quiet) return;
    // On a terminal both streams share the screen: the answer so far must not run into the notice.
    if (io.stdout.isTerminal && !atLineStart) await say("\n");
    await io.stderr.write(`${line}\n`);
  };
  return {
    event(event) {
      trace.follow(event);
      switch (event.kind) {
        case "request":
          return begin();
        case "delta":
          return delta(event.delta);
        case "reply":
          open = false;
          // What a model says before its calls, and its answer after them, are paragraphs of their own.
          if (event.item.calls.length > 0 && !atLineStart) return say("\n");
          return settle();
        case "status":
          if (event.status === "compacting") wait("summarising the older part of the session");
          return event.status === null ? stopWaiting() : undefined;
        case "retry":
          if (event.notice.kind === "loading" && event.notice.attempt === 1) return tellLoading(event);
          break;
        case "permission_denied":
          denied.add(event.denial.callId);
          break;
        case "tool_result":
          // A call that was denied has had its line.
          if (denied.delete(event.item.callId)) return;
          break;
      }
      const line = eventLine(event, trace);
      return line === null ? undefined : tell(line);
    },
    async result(result) {
      await settle();
      if (!atLineStart) await say("\n");
      if (result.outcome !== "success") await fail(result);
      else {
        if (!options.quiet) await io.stderr.write(`${figures(result)}\n`);
        // The code stands for the session, the words for the turn in which it happened.
        if (result.errorCode !== null && result.denials.length > 0) await io.stderr.write(missingPermission(result));
      }
    },
  };

  async function tellLoading(event: TurnEvent): Promise<void> {
    await tell(eventLine(event, trace) ?? "");
    wait("loading the model");
  }

  /** A reply begins on a line of its own: what came of one before it that is not complete is no part of it. */
  function begin(): void | Promise<void> {
    if (open && !atLineStart) return say("\n").then(start);
    start();
  }

  function start(): void {
    open = false;
    wait("reading the prompt");
  }

  function delta(piece: (TurnEvent & { kind: "delta" })["delta"]): void | Promise<void> {
    switch (piece.kind) {
      case "text":
        return stream(piece.text);
      case "reasoning":
        wait("thinking");
        return;
      case "prefill":
        progress.note(`(${piece.processed} of ${piece.total} tokens)`);
        return;
      case "tool_call":
        return;
    }
  }

  async function fail(result: TurnResult): Promise<void> {
    if (result.errorCode === null) return;
    const incomplete = open ? "; the answer above is incomplete" : "";
    const error = new AgentcliError(result.errorCode, `${result.errors.join("; ")}${incomplete}`, {
      ...(result.hint === null ? {} : { hint: result.hint }),
    });
    await showError(error, io, { json: false, verbose: options.verbose });
  }
}
