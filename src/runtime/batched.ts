import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Batches concurrent calls (the loader pattern): a change wakes all held polls of a location, and one
 * database statement for all of them costs about as much as a statement for one poll.
 *
 * An answer is always read after its call began. Batches with the same key run one after the other: calls during a
 * batch wait for the next one.
 *
 * @param run returns the answers in the order of the items; where it throws, each call rejects
 */
export function batched<Item, Answer>(
  run: (key: string, items: readonly Item[]) => Promise<readonly Answer[]>,
): (key: string, item: Item) => Promise<Answer> {
  /** By key, while a batch is running: the next batch. */
  const waiting = new Map<string, Waiting<Item, Answer>[]>();

  const answerBatch = async (
    key: string,
    batch: readonly Waiting<Item, Answer>[],
  ): Promise<void> => {
    try {
      const items = batch.map(({ item }) => item);
      const answers = await run(key, items);
      for (const [at, { resolve }] of batch.entries()) resolve(answers[at] as Answer);
    } catch (thrown) {
      for (const { reject } of batch) reject(thrown);
    }
  };

  const answerAll = async (key: string): Promise<void> => {
    for (;;) {
      // Callers that the same change woke call one after the other before this yield ends.
      await yieldToEventLoop();
      const batch = waiting.get(key) ?? [];
      if (batch.length === 0) break;
      waiting.set(key, []);
      await answerBatch(key, batch);
    }
    waiting.delete(key);
  };

  return (key, item) =>
    new Promise((resolve, reject) => {
      const one = { item, resolve, reject };
      const batch = waiting.get(key);
      if (batch !== undefined) {
        batch.push(one);
        return;
      }
      waiting.set(key, [one]);
      void answerAll(key);
    });
}
