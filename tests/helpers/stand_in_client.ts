/** A client without a network: answers by address, for tests of what asks small questions. */
import { AgentcliError } from "../../src/errors.ts";
import type { Io } from "../../src/platform/io.ts";
import { HttpClient, type HttpRequest, type HttpResponse } from "../../src/provider/http/client.ts";
import type { Endpoint } from "../../src/provider/types.ts";

/** What an address answers: JSON (anything that is no string), text, nothing ever, or no listener. */
export type StandInAnswer =
  | {
    status?: number;
    headers?: Record<string, string>;
    body: unknown;
  }
  | "silence"
  | "refused";

/** A request as the client got it. */
export interface SentRequest extends HttpRequest {
  url: string;
  endpoint: Endpoint;
}

/** Answers by whole address; any other is refused. */
export function standInClient(answers: Record<string, StandInAnswer>): { client: HttpClient; sent: SentRequest[] } {
  const sent: SentRequest[] = [];
  const send = async (endpoint: Endpoint, request: HttpRequest): Promise<HttpResponse> => {
    const base = request.atOrigin ? new URL(endpoint.baseUrl).origin : endpoint.baseUrl;
    const url = base + request.path;
    sent.push({ ...request, url, endpoint });
    const answer = answers[url] ?? "refused";
    if (answer === "refused") throw new AgentcliError("provider_unreachable", `cannot reach ${url}: refused`);
    if (answer === "silence") return await new Promise(() => {});
    const text = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body);
    return {
      status: answer.status ?? 200,
      headers: new Map(new Headers(answer.headers)),
      body: null,
      text: (limit) =>
        text.length <= limit
          ? Promise.resolve(text)
          : Promise.reject(new AgentcliError("invalid_reply", `the answer is longer than ${limit} bytes`)),
      cancel: () => Promise.resolve(),
    };
  };
  const io = { env: () => undefined, clock: {} as Io["clock"] };
  return { client: Object.assign(new HttpClient(io), { send }), sent };
}

/** A connection for tests. */
export function endpointAt(baseUrl: string, more: Partial<Endpoint> = {}): Endpoint {
  return {
    provider: "tested",
    baseUrl,
    keySource: "none",
    headers: {},
    caCerts: [],
    timeout: { connect: 1, firstByte: 1, idle: 1 },
    local: true,
    ...more,
  };
}

/** A recorded answer (`<case>.http`) as status, headers and body. */
export async function recorded(
  name: string,
): Promise<{ status: number; headers: Record<string, string>; body: string }> {
  const text = await Deno.readTextFile(new URL(`../fixtures/traces/${name}.http`, import.meta.url));
  const end = text.indexOf("\r\n\r\n");
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = Object.fromEntries(lines.map((line) => line.split(/:\s*/, 2) as [string, string]));
  return { status: Number(first.split(" ")[1]), headers, body: text.slice(end + 4) };
}
