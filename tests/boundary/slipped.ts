/** Content in a form that no scan finds, and what a test waits for while a command runs. */
/** A form that no scan finds, and one that it does. */
export const CODED = "tr 'A-Za-z0-9' 'N-ZA-Mn-za-m5-90-4'";

/** The same of a text. */
export function coded(text: string): string {
  return text.replace(/[A-Za-z0-9]/g, (sign) => {
    const at = sign.charCodeAt(0);
    if (at < 58) return String.fromCharCode((at - 48 + 5) % 10 + 48);
    const first = at < 97 ? 65 : 97;
    return String.fromCharCode((at - first + 13) % 26 + first);
  });
}

/** Waits for a file that a command makes. */
export async function standing(path: string): Promise<void> {
  for (let round = 0; round < 500; round++) {
    if (await Deno.stat(path).catch(() => null) !== null) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${path} was not made`);
}
