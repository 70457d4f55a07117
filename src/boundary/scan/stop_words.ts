/** Text that protected files share with half of the world: finding it tells nothing. */

/** Normalized, as the scan compares. A fragment that lies inside of one of them is no hit. */
const PHRASES: readonly string[] = [
  "http://www.",
  "https://www.",
  "http://localhost:",
  "https://localhost:",
  "http://127.0.0.1:",
  "https://127.0.0.1:",
  "https://github.com/",
  "https://api.",
  "localhost",
  "127.0.0.1",
  "0.0.0.0:8080",
  "production",
  "development",
  "postgresql://",
  "postgresql",
  "mongodb://localhost",
  "redis://localhost:",
  "application/json",
  "text/plain",
  "undefined",
  "disabled",
  "password",
  "username",
  "us-east-1",
  "eu-west-1",
  "changeme",
  "information",
  "#!/bin/bash",
  "#!/usr/bin/envbash",
  "#!/usr/bin/envpython",
  "---trigger:always_on",
  "---trigger:manual",
  "---trigger:model_decision",
];

/** How a file with frontmatter begins, up to the first words of its description. */
const HEAD =
  /^-{0,3}(?:trigger:(?:always_on|model_decision|manual|glob)(?:-{1,3}|globs:|description:)?|globs:|description:)/;

/**
 * Whether a normalized fragment says nothing about the file it stands in. Behind the head of a file with frontmatter only
 * what follows counts: it tells something from the length on that a fragment has without such a head, `shortest`.
 */
export function stopWords(normalized: string, { shortest }: { shortest: number }): boolean {
  if (normalized.length <= 24 && PHRASES.some((phrase) => phrase.includes(normalized))) return true;
  const head = HEAD.exec(normalized)?.[0];
  return head !== undefined && normalized.length - head.length < shortest;
}
