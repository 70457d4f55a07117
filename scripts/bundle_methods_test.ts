import assert from "node:assert/strict";
import { compiledAhead, functionsOf } from "./bundle_functions.ts";

const CLASSES = `// src/door.ts
var send = () => "outside";
class Door {
  #seen = [];
  #later = () => this.#note("later");
  constructor(name) {
    this.name = name;
  }
  send(text) {
    this.#note(text);
    return [send(), [1, 2].map((one) => one + 1), this.#later(), this.#seen];
  }
  async wait() {
    return await this.#slow();
  }
  *all() {
    yield this.name;
  }
  #note(text) {
    return this.#seen.push(text);
  }
  async #slow() {
    return this.name;
  }
  get size() {
    return this.#seen.length;
  }
  static made() {
    return new Door("made");
  }
}
var Gate = class extends Door {
  #count = this.#start();
  #start() {
    return 7;
  }
  send(text) {
    return [this.#count, ...super.send(text)];
  }
  wait() {
    return "at once";
  }
};
class Early {
  static first = new Early().name();
  name() {
    return "early";
  }
}
`;

const USE = `
const door = new Door("front");
const gate = new Gate("back");
export default JSON.stringify([door.send("a"), await door.wait(), [...door.all()], door.size, Door.made().name, gate.send("b"),
  gate.wait(), Early.first, Object.keys(door), Object.getOwnPropertyNames(Door.prototype).toSorted(), Door.prototype.send.name,
  Door.prototype.send.length, Object.getOwnPropertyDescriptor(Door.prototype, "wait").enumerable]);`;

async function told(code: string): Promise<unknown[]> {
  return JSON.parse((await import(`data:text/javascript,${encodeURIComponent(code + USE)}`)).default);
}

Deno.test("methods compiled ahead do the same, and whatever could see a difference is left as it is", async () => {
  const ahead = compiledAhead(CLASSES, new Set(functionsOf(CLASSES).map(({ key }) => key)));
  const expected = ["outside", [2, 3], 2, ["a", "later"]];
  assert.deepEqual((await told(CLASSES))[0], expected);
  assert.deepEqual(await told(ahead), await told(CLASSES));
  for (
    const changed of [
      "value: { send: (function (text) {",
      "value: { wait: (async function () {",
      "all: (function* () {",
    ]
  ) assert(ahead.includes(changed), changed);
  for (const changed of ["#note = (function (text) {", "#slow = (async function () {"]) assert(ahead.includes(changed));
  for (
    const kept of [
      "#start() {",
      "  send(text) {\n    return [this.#count",
      "  name() {",
      "get size() {",
      "static made() {",
    ]
  ) {
    assert(ahead.includes(kept), kept);
  }
});
