/** One thing that doctor looked at. */

/** `fail`: the program cannot do its work because of it. `warn`: it can, but not as it should. */
export type CheckState = "ok" | "warn" | "fail";

/** What came of it. The names of `id` are public: programs read them from `--json`. */
export interface Check {
  id:
    | "version"
    | "home"
    | "configuration"
    | "key_store"
    | "providers"
    | "provider"
    | "boundary"
    | "sandbox"
    | "git"
    | "ripgrep"
    | "shell"
    | "terminal"
    | "proxy"
    | "telemetry"
    | "demo";
  state: CheckState;
  /** One line, not cleaned yet. */
  message: string;
  /** What to do, one line; for everything that is not ok. */
  hint?: string;
  /** Further facts for `--json`. */
  facts?: Record<string, unknown>;
}

/** The worst of some states; `ok` for none. */
export function worst(states: readonly CheckState[]): CheckState {
  return states.includes("fail") ? "fail" : states.includes("warn") ? "warn" : "ok";
}
