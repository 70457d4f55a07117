/** Artifacts that others wrote, as artifacts of ours: the same bytes, noted in the ledger. */
import { type Artifact, encodeBase64, type Piece } from "./artifact.ts";
import type { Dialect, Scope } from "./dialect.ts";
import { readFound } from "./disk.ts";
import type { FoundArtifact } from "./inspect.ts";
import { nameProblem } from "./names.ts";
import type { Places } from "./places.ts";

/** Those that can be taken over: files of rules, workflows and skills, hook entries, and servers with a usable name. */
export function adopt(
  found: readonly FoundArtifact[],
  { dialect, places }: { dialect: Dialect; places(scope: Scope): Places },
): Artifact[] {
  return found.flatMap((one, at) => {
    const piece = pieceOf(one);
    const name = one.kind === "hook" ? `${one.name.replaceAll("_", "-")}-${at}` : one.name;
    if (piece === null || nameProblem(name) !== null) return [];
    const base = places(one.scope).base;
    return [{ kind: one.kind, name, scope: one.scope, dialect: dialect.id, base, pieces: [piece] }];
  });
}

function pieceOf({ kind, name, path, entry }: FoundArtifact): Piece | null {
  if (kind === "hook") return { kind: "item", path, at: ["hooks", name], value: entry };
  if (kind === "mcp") return { kind: "member", path, at: ["mcpServers", name], value: entry };
  if (kind === "instructions") return null;
  const file = readFound(path);
  if (file === null) return null;
  const executable = file.mode !== null && (file.mode & 0o111) !== 0;
  return { kind: "file", path: path, content: encodeBase64(file.bytes), executable };
}
