/** Attacks as tables: one run for many ways to reach content, each with its control. */
import assert from "node:assert/strict";
import { ask, type PlannedCall, say, want } from "../helpers/fake_server.ts";
import { assertRefusedResult, assertSealed, type Play, type Stage } from "./harness.ts";

/** One way to reach a protected file. */
export interface Way {
  name: string;
  call: PlannedCall;
  /** The canary that the local model must get by it; null where it gets nothing either. */
  canary: string | null;
}

/** Reads of paths that lead to one canary. */
export function reads(canary: string | null, ...paths: string[]): Way[] {
  return paths.map((path) => ({ name: `read ${JSON.stringify(path)}`, call: want("read", { path }), canary }));
}

/**
 * Runs all ways against the remote provider, where each must be refused and nothing may leave, and against the local
 * one, where each must bring its canary.
 */
export async function tryWays(stage: Stage, ways: readonly Way[], play: Partial<Play> = {}): Promise<void> {
  const script = [ask(...ways.map((way) => way.call)), say("Done.")];
  const remote = await stage.play("rem", { ...play, script });
  assert.equal(remote.done.code, 0, remote.done.stderr);
  assertSealed(remote);
  const local = await stage.play("loc", { ...play, script });
  assert.equal(local.done.code, 0, local.done.stderr);
  assertSealed(local);
  for (const [index, way] of ways.entries()) {
    const [there, here] = [remote.results[index], local.results[index]];
    if (way.canary === null) {
      assert.ok(there !== undefined && here !== undefined, way.name);
      continue;
    }
    assertRefusedResult(there, way.name);
    assert.ok(here?.includes(stage.canary(way.canary)), `${way.name}: the control is empty: ${here}`);
  }
}
