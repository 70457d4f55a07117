/** A server of the same engine that is there already: waited for, told, registered, and left as it is. */
import { servedModels, untilReady } from "../../engine/asking.ts";
import { createProgress } from "../../terminal/progress.ts";
import { isAsked } from "./asked_model.ts";
import { warn } from "../output.ts";
import { register } from "./register.ts";
import type { Task } from "./task.ts";
import { tellReady } from "./tell.ts";

/** Gives exit code 0 once the server can be asked. */
export async function reuse(task: Task): Promise<number> {
  const { context: { io, globals }, engine, asking, checked } = task;
  const started = io.clock.monotonic();
  const progress = createProgress(io, globals);
  progress.start(`waiting for ${engine.product}`);
  try {
    await untilReady(engine, asking);
  } finally {
    await progress.stop();
  }
  const models = await servedModels(asking);
  const { modelName } = checked;
  if (modelName !== undefined && models.length > 0 && !models.some(({ id }) => isAsked(id, checked))) {
    await warn(task.context, `it does not list ${modelName}: end it first, or start another with --port`);
  }
  const provider = task.register ? await register(task, models) : null;
  const afterMs = io.clock.monotonic() - started;
  await tellReady(task, { reused: true, afterMs, models, commands: [], provider, pid: null, log: null });
  return 0;
}
