/** What one call of `local-model serve` works with. */
import type { Asking } from "../../engine/asking.ts";
import type { Checked } from "../../engine/request.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Home } from "../../platform/home.ts";
import type { Context } from "../verb.ts";

/** Everything that is known before anything is started. */
export interface Task {
  context: Context;
  home: Home;
  engine: Engine;
  checked: Checked;
  /** The engine's own options. */
  own: readonly string[];
  asking: Asking;
  /** Name of the record of `--detach`. */
  recordName: string;
  /** As it was typed: a key, or `$NAME`. */
  apiKey: string | undefined;
  register: boolean;
  detach: boolean;
  download: boolean;
  /** Variables that hold keys of providers. */
  secret: readonly string[];
}
