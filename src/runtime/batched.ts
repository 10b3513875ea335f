import { setImmediate as nextTurn } from 'node:timers/promises';

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Answers together what many ask at once: a change wakes all held polls of a location, and one
 * statement of the database for all of them costs about as much as for one.
 *
 * An answer is of a moment after its question. Questions with the same key are answered one lot after
 * the other: those that come while a lot is being answered wait for the next.
 *
 * @param run answers a lot, in its order; where it throws, each of the lot is told so
 */
export function batched<Item, Answer>(
  run: (key: string, items: readonly Item[]) => Promise<readonly Answer[]>,
): (key: string, item: Item) => Promise<Answer> {
  /** By key. There while a lot is being answered. */
  const waiting = new Map<string, Waiting<Item, Answer>[]>();

  const answerBatch = async (key: string, lot: readonly Waiting<Item, Answer>[]): Promise<void> => {
    try {
      const items = lot.map(({ item }) => item);
      const answers = await run(key, items);
      for (const [at, { resolve }] of lot.entries()) resolve(answers[at] as Answer);
    } catch (thrown) {
      for (const { reject } of lot) reject(thrown);
    }
  };

  const answerAll = async (key: string): Promise<void> => {
    for (;;) {
      // Those who were woken by the same word ask one after the other in this turn.
      await nextTurn();
      const lot = waiting.get(key) ?? [];
      if (lot.length === 0) break;
      waiting.set(key, []);
      await answerBatch(key, lot);
    }
    waiting.delete(key);
  };

  return (key, item) =>
    new Promise((resolve, reject) => {
      const one = { item, resolve, reject };
      const lot = waiting.get(key);
      if (lot !== undefined) {
        lot.push(one);
        return;
      }
      waiting.set(key, [one]);
      void answerAll(key);
    });
}
