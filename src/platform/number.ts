/** Numbers as people read them. */

/** Returns a whole number with commas between the thousands. The runtime's own way takes ten milliseconds to load. */
export function grouped(number: number): string {
  return String(Math.round(number)).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** Returns a count with its noun: `1 file`, `2 files`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
