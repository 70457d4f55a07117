/** Text to fill a prompt with: plain words in an order that no server has seen before. */

const WORDS = ("river stone window garden paper bridge market summer yellow kitchen morning letter silver forest " +
  "harbour music number island winter button pencil travel orange picture village record circle engine basket " +
  "corner feather candle").split(" ");
/** Words in one line. */
const LINE = 12;

/** The same seed gives the same text; texts of different seeds differ from the first words on. Plain ASCII. */
export function fillerText(bytes: number, seed: number): string {
  const lines: string[] = [];
  let state = seed >>> 0;
  let length = 0;
  while (length < bytes) {
    const words: string[] = [];
    for (let word = 0; word < LINE; word++) {
      // Numerical Recipes' generator: order matters here, chance does not.
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      words.push(WORDS[state >>> 27] ?? "river");
    }
    const line = `${words.join(" ")}.\n`;
    lines.push(line);
    length += line.length;
  }
  return lines.join("").slice(0, Math.max(0, Math.round(bytes)));
}

/** A number for {@link fillerText} that no earlier prompt had. */
export function newSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] ?? 1;
}

/** Something that cannot be guessed and is easy to repeat: a word of the list, and digits. */
export function newMarker(): string {
  const [word = 0, digits = 0] = crypto.getRandomValues(new Uint32Array(2));
  return `${WORDS[word % WORDS.length]}-${100_000 + digits % 900_000}`;
}

/** Whether `text` holds the marker, however its parts are joined. */
export function holdsMarker(text: string, marker: string): boolean {
  const [word = "", digits = ""] = marker.split("-");
  return new RegExp(`${word}[^a-z0-9]{0,5}${digits}`, "i").test(text);
}
