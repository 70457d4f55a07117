/**
 * The ledger while files are written. A kill can come between any two writes, so it says of each place both what stood
 * there and what is to stand there: whichever the next run finds is known to be ours, and what was begun can be ended.
 */
import { artifactKey, pieceKey } from "./artifact.ts";
import { type FileRecord, type Installed, type InstalledPiece, type Ledger, ownStates } from "./ledger.ts";

function pieceIn(artifact: Installed | undefined, { piece }: InstalledPiece): InstalledPiece | undefined {
  return artifact?.pieces.find((one) => pieceKey(one.piece) === pieceKey(piece));
}

/** `next` with all that may still be as in `ledger`; `records`: of the files that are written. */
export function betweenLedgers(
  ledger: Ledger,
  next: Ledger,
  { records }: { records: Readonly<Record<string, FileRecord>> },
): Ledger {
  const before = new Map(ledger.artifacts.map((one) => [artifactKey(one), one]));
  const after = new Set(next.artifacts.map(artifactKey));
  const artifacts = next.artifacts.map((artifact): Installed => {
    const known = before.get(artifactKey(artifact));
    const coming = artifact.pieces.map((piece): InstalledPiece => {
      const old = pieceIn(known, piece);
      const changes = old === undefined
        ? piece.written !== null
        : old !== piece && (old.written !== piece.written || old.also !== undefined);
      if (!changes) return piece;
      if (old === undefined) return { ...piece, also: [null] };
      const earlier = piece.piece.kind === "item" ? { earlier: [old.piece, ...(old.earlier ?? [])] } : {};
      return { ...piece, also: ownStates(old), ...earlier };
    });
    const going = (known?.pieces ?? []).filter((old) => pieceIn(artifact, old) === undefined).map(leaving);
    // In the order of the change itself, so that ending it gives the same text.
    return { ...artifact, pieces: [...going, ...coming] };
  });
  const gone = ledger.artifacts.filter((known) => !after.has(artifactKey(known)));
  return {
    version: 1,
    artifacts: [...artifacts, ...gone.map((one) => ({ ...one, pieces: one.pieces.map(leaving) }))],
    files: { ...ledger.files, ...next.files, ...records },
    directories: [...new Set([...ledger.directories, ...next.directories])].sort(),
  };
}

function leaving(piece: InstalledPiece): InstalledPiece {
  return { ...piece, leaving: true };
}
