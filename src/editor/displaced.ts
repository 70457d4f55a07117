/** What of others is written over by force: the ledger keeps it, so that it can be given back, and so it is judged first. */
import { AgentcliError } from "../errors.ts";
import { type Piece, pieceKey } from "./artifact.ts";
import { stringsIn } from "./events.ts";
import type { Ledger } from "./ledger.ts";
import { bytesOf } from "./piece.ts";
import type { Plan } from "./plan.ts";

/** Whether bytes of a file may be kept in the home. */
export type MayKeep = (path: string, bytes: Uint8Array) => Promise<boolean>;

function contentOf(piece: Piece): Uint8Array {
  if (piece.kind === "file") return bytesOf(piece);
  const text = piece.kind === "section" ? piece.content : [...stringsIn(piece.value)].join("\n");
  return new TextEncoder().encode(text);
}

/** Throws `policy_refused` where a plan would keep what may not be kept. What the ledger holds already was judged before. */
export async function refuseToKeep(ledger: Ledger, { artifacts }: Plan, mayKeep: MayKeep): Promise<void> {
  const displaced = (from: Ledger["artifacts"]) =>
    from.flatMap(({ pieces }) => pieces.flatMap(({ instead }) => instead === undefined ? [] : instead));
  const known = new Set(displaced(ledger.artifacts).map(pieceKey));
  for (const piece of displaced(artifacts)) {
    if (known.has(pieceKey(piece)) || await mayKeep(piece.path, contentOf(piece))) continue;
    throw new AgentcliError(
      "policy_refused",
      `${piece.path} holds protected content, which the home does not keep, so it could not be given back`,
      { hint: "move away what stands there, then run it again" },
    );
  }
}
