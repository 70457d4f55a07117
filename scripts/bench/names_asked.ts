/** A name server that knows no name and notes what it is asked: the outside hosts that programs want to reach. */

/** The running server. */
export interface NamesAsked extends AsyncDisposable {
  /** The names since the last call, each once, sorted. */
  take(): string[];
}

/** The name in a question. Source: RFC 1035, section 4.1. */
export function nameIn(question: Uint8Array): string {
  const labels: string[] = [];
  for (let at = 12; (question[at] ?? 0) > 0; at += 1 + (question[at] ?? 0)) {
    labels.push(new TextDecoder().decode(question.subarray(at + 1, at + 1 + (question[at] ?? 0))));
  }
  return labels.join(".").toLowerCase();
}

/** The answer that there is no such name: the question, with the bits for an answer and code 3. */
export function noSuchName(question: Uint8Array): Uint8Array<ArrayBuffer> {
  const answer = new Uint8Array(question);
  answer[2] = 0x81;
  answer[3] = 0x83;
  // What may follow the question (EDNS) is not repeated.
  let end = 12;
  while ((answer[end] ?? 0) > 0) end += 1 + (answer[end] ?? 0);
  answer.fill(0, 6, 12);
  return answer.slice(0, end + 5);
}

/** Listens on port 53 of 127.0.0.1; null where that is not allowed. */
export function startNames(): NamesAsked | null {
  const names = new Set<string>();
  let socket: Deno.DatagramConn;
  try {
    socket = Deno.listenDatagram({ hostname: "127.0.0.1", port: 53, transport: "udp" });
  } catch {
    return null;
  }
  const answering = (async () => {
    for await (const [question, from] of socket) {
      names.add(nameIn(question));
      await socket.send(noSuchName(question), from);
    }
  })();
  return {
    take() {
      const taken = [...names].sort();
      names.clear();
      return taken;
    },
    async [Symbol.asyncDispose]() {
      socket.close();
      await answering;
    },
  };
}
