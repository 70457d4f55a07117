/** What a file that is no text probably is, from its first bytes. */

/** Signatures as they are defined by the formats: bytes at an offset. `..` stands for any byte. */
const SIGNATURES: readonly [name: string, offset: number, hex: string][] = [
  ["PNG image", 0, "89504e470d0a1a0a"],
  ["JPEG image", 0, "ffd8ff"],
  ["GIF image", 0, "47494638"],
  ["WebP image", 0, "52494646........57454250"],
  ["WAV audio", 0, "52494646........57415645"],
  ["TIFF image", 0, "49492a00"],
  ["TIFF image", 0, "4d4d002a"],
  ["icon", 0, "00000100"],
  ["PDF document", 0, "255044462d"],
  ["zip archive (also docx, xlsx, jar)", 0, "504b0304"],
  ["gzip archive", 0, "1f8b"],
  ["xz archive", 0, "fd377a585a00"],
  ["zstd archive", 0, "28b52ffd"],
  ["bzip2 archive", 0, "425a68"],
  ["7z archive", 0, "377abcaf271c"],
  ["tar archive", 257, "7573746172"],
  ["ELF program", 0, "7f454c46"],
  ["Windows program", 0, "4d5a"],
  ["Mach-O program", 0, "cffaedfe"],
  ["WebAssembly module", 0, "0061736d"],
  ["Java class", 0, "cafebabe"],
  ["SQLite database", 0, "53514c69746520666f726d6174"],
  ["GGUF model", 0, "47475546"],
  ["MP4 video", 4, "66747970"],
  ["MP3 audio", 0, "494433"],
  ["Ogg media", 0, "4f676753"],
  ["FLAC audio", 0, "664c6143"],
  ["WOFF font", 0, "774f4646"],
  ["WOFF font", 0, "774f4632"],
];

function matches(head: Uint8Array, offset: number, hex: string): boolean {
  for (let at = 0; at * 2 < hex.length; at++) {
    const byte = hex.slice(at * 2, at * 2 + 2);
    if (byte !== ".." && head[offset + at] !== Number.parseInt(byte, 16)) return false;
  }
  return true;
}

/** `PNG image`, …; `binary file` when the signature is unknown. */
export function describeType(head: Uint8Array): string {
  return SIGNATURES.find(([, offset, hex]) => matches(head, offset, hex))?.[0] ?? "binary file";
}

/** Whether it is a PDF, which is no text although it may begin without a NUL byte. */
export function isPdf(head: Uint8Array): boolean {
  return matches(head, 0, "255044462d");
}
