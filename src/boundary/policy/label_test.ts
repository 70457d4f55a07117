import assert from "node:assert/strict";
import { AgentcliError } from "../../errors.ts";
import { admitItems } from "./label.ts";

const local = { kind: "provider", name: "near", local: true } as const;
const remote = { kind: "provider", name: "far", local: false } as const;
const isPolicy = (error: unknown) => error instanceof AgentcliError && error.exitCode === 6 && error.hint !== undefined;

Deno.test("open items go everywhere", () => {
  for (const destination of [local, remote, { kind: "store" } as const]) admitItems(destination, [{ label: "open" }]);
});

Deno.test("protected items go to a local provider only", () => {
  admitItems(local, [{ label: "no-cloud" }]);
  assert.throws(() => admitItems(remote, [{ label: "open" }, { label: "no-cloud" }]), isPolicy);
  assert.throws(() => admitItems({ kind: "store" }, [{ label: "no-cloud" }]), isPolicy);
});

Deno.test("an item without a label is protected", () => {
  assert.throws(() => admitItems(remote, [{}]), isPolicy);
});

Deno.test("the refusal names path, rule and provider", () => {
  const item = { label: "no-cloud", source: { path: ".env", rule: "no-cloud: .env" } } as const;
  assert.throws(() => admitItems(remote, [item]), /\.env \(no-cloud: \.env\).*"far"/);
});
