/** LocalAI. */
import { fieldsOf } from "../../platform/record.ts";
import { type Backend, everyEntry } from "./backend.ts";

export const localAi: Backend = {
  id: "localai",
  label: "LocalAI",
  ports: [8080],
  probe: {
    path: "/version",
    // The entries of its list hold the id and the kind, nothing else.
    suspected: (facts) => everyEntry(facts, (entry) => Object.keys(entry).every((key) => /^(?:id|object)$/.test(key))),
    proves: ({ json }) => /^v?\d+\.\d+\.\d+ \(/.test(String(fieldsOf(json)["version"])),
  },
  errors: { loading: ["starting"] },
};
