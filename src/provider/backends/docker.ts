/** Docker Model Runner. */
import type { Backend } from "./backend.ts";

export const docker: Backend = { id: "docker", label: "Docker Model Runner", ports: [12434], owners: ["docker"] };
