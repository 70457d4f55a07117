/** Numbers as people read them. */

/** Returns a whole number with commas between the thousands. The runtime's own way takes ten milliseconds to load. */
export function grouped(number: number): string {
  return String(Math.round(number)).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** Returns a count with its noun: `1 file`, `1,200 files`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${grouped(count)} ${count === 1 ? noun : plural}`;
}

/** Returns a number of bytes in the largest unit that fits: `512 B`, `3 KiB`, `1.5 MiB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KiB`;
  return `${Number((bytes / 1024 / 1024).toFixed(1))} MiB`;
}
