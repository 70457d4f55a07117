/** Messages that wait for their turn. */

/** A bounded queue with one taker. */
export interface TurnQueue<T> {
  /** Adds one; resolves when there is room for more, so that input is read no faster than it is used. */
  push(turn: T, size: number): Promise<void>;
  /** The next one; null when there is none and none will come. */
  next(): Promise<T | null>;
  /** Takes all that wait. */
  drain(): T[];
  /** No more will come. */
  end(): void;
  waiting(): T[];
}

/** What may wait before input is no longer read, in the unit of `size`. */
const ROOM = 32 * 1024 * 1024;

/** An empty queue. */
export function createTurnQueue<T>(): TurnQueue<T> {
  const turns: { turn: T; size: number }[] = [];
  let held = 0;
  let ended = false;
  let wake = Promise.withResolvers<void>();
  const changed = () => {
    wake.resolve();
    wake = Promise.withResolvers<void>();
  };
  const take = () => {
    const first = turns.shift();
    if (first === undefined) return null;
    held -= first.size;
    changed();
    return first.turn;
  };
  return {
    async push(turn, size) {
      turns.push({ turn, size });
      held += size;
      changed();
      while (held > ROOM && !ended) await wake.promise;
    },
    async next() {
      while (turns.length === 0 && !ended) await wake.promise;
      return take();
    },
    drain() {
      const all = turns.splice(0).map(({ turn }) => turn);
      held = 0;
      changed();
      return all;
    },
    end() {
      ended = true;
      changed();
    },
    waiting: () => turns.map(({ turn }) => turn),
  };
}
