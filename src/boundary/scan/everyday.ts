/** Text that protected files share with half of the world: finding it tells nothing. */

/** Normalised, as the scan compares. A fragment that lies inside of one of them is no hit. */
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
];

/** Whether a normalised fragment says nothing about the file it stands in. */
export function everyday(normalised: string): boolean {
  return normalised.length <= 24 && PHRASES.some((phrase) => phrase.includes(normalised));
}
