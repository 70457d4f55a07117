/**
 * A child that writes one session without end, for tests that kill it: argument 1 is the home. It continues the latest
 * session, or begins one, and prints the number of each item when that is on the disk.
 */
import { denoIo } from "../../src/platform/deno_io.ts";
import { openHome } from "../../src/platform/home.ts";
import { listSessions } from "../../src/session/list.ts";
import { openTranscript, resumeTranscript } from "../../src/session/open_transcript.ts";
import { PROJECT_ROOT, transcriptOptions, userItem } from "./transcripts.ts";

const io = denoIo();
const home = await openHome({ env: () => Deno.args[0], os: io.os });
const options = transcriptOptions({ clock: io.clock });
const [latest] = await listSessions(home, { projectRoot: PROJECT_ROOT });
const resumed = latest === undefined ? null : await resumeTranscript(home, { ...latest, ...options });
const transcript = resumed?.transcript ?? await openTranscript(home, options);
const items = [...resumed?.stored.items ?? []];
for (let number = items.length;; number++) {
  // Longer than one page now and then, so that a kill can fall into a line.
  items.push(userItem(`${number} ${"x".repeat(number % 5 === 0 ? 100_000 : 50)}`));
  await transcript.record(items);
  if (options.troubles.length > 0) throw new Error(options.troubles.join());
  await io.stdout.write(`${number}\n`);
}
