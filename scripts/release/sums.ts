/** `SHA256SUMS`: what a release holds, in the form that `sha256sum --check` reads. */

/** The SHA-256 of the bytes, in hexadecimal. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

/** Writes `SHA256SUMS` over all other files of the folder, sorted by name, and gives its text. */
export async function writeSums(folder: string): Promise<string> {
  const names: string[] = [];
  for await (const entry of Deno.readDir(folder)) {
    if (entry.isFile && entry.name !== "SHA256SUMS") names.push(entry.name);
  }
  const lines: string[] = [];
  for (const name of names.sort()) lines.push(`${await sha256(await Deno.readFile(`${folder}/${name}`))}  ${name}\n`);
  const text = lines.join("");
  await Deno.writeTextFile(`${folder}/SHA256SUMS`, text);
  return text;
}
