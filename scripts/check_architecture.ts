/** `deno task check`, the part that reads the rules of the house out of the sources. Exit 1 when one is broken. */
import { checkArchitecture, showFinding } from "./architecture.ts";
import { missingPaths, readPages } from "./pages.ts";
import { readSources } from "./read_sources.ts";

const sources = await readSources();
const findings = [...checkArchitecture(sources).map(showFinding), ...await missingPaths(await readPages())];
for (const finding of findings) console.error(finding);
console.error(`architecture: ${sources.length} files, ${findings.length} findings`);
if (findings.length > 0) Deno.exit(1);
