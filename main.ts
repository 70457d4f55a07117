/** argv in, exit code out; the only place that exits. */
import { main } from "./src/cli/main.ts";
import { denoIo, exit, processArguments } from "./src/platform/deno_io.ts";

exit(await main(processArguments(), denoIo()));
