import { startDriver } from '../driver.ts';
import type { Part, PartContext } from '../part.ts';

const SECRETS = 1_000;
const MEGABYTE = 1_000_000;
const LIMIT = { of: 'value', bound: 'at most', number: 2 } as const;
const PLAIN = 'JSON with escapes';

interface Held {
  readonly tookMs: number;
  /** The longest time without a yield to the event loop, in CPU time. */
  readonly heldMs: number;
}

interface Text extends Held {
  readonly name: string | null;
  readonly isRight: boolean;
}

/** How long a search for secrets in a long text takes, and how long it blocks the event loop. */
export const scrubPart: Part = {
  name: 'scrub',
  method:
    'The scrubber, in a plain Node process, searches 25 MB of eleven kinds of text for a thousand random secrets of 8 to 47 characters. The texts range from prose to text that nearly matches a secret at every position. Each round has other secrets, because a run of backslashes is slow if a secret also contains several. The hold of the event loop is the CPU time between two moments at which the scrubber yields.',
  programs: [],
  async run(context) {
    const megabytes = context.short ? 2 : 25;
    const rounds: (readonly Text[])[] = [];
    for (let round = 0; round < context.rounds; round += 1) {
      context.progress(`scrubbing, round ${round + 1}`);
      rounds.push(await scrubAll(megabytes, context));
    }
    const slowest = (texts: readonly Text[]): Text =>
      texts.reduce((one, other) => (other.tookMs > one.tookMs ? other : one));
    const seconds = (pick: (texts: readonly Text[]) => Held | undefined): number[] =>
      rounds.map((texts) => (pick(texts)?.tookMs ?? Number.NaN) / 1000);
    const what = `${SECRETS.toLocaleString('en')} secrets in ${megabytes} MB`;
    return [
      {
        measure: `Scrubbing of ${what} of ${PLAIN}`,
        values: seconds((texts) => texts.find(({ name }) => name === PLAIN)),
        unit: 's',
        target: LIMIT,
      },
      {
        measure: `Scrubbing of ${what}, slowest of ${rounds[0]?.length} kinds of text`,
        values: seconds(slowest),
        unit: 's',
      },
      {
        measure: `Scrubbing of ${what}, longest hold of the event loop`,
        values: rounds.map((texts) => Math.max(...texts.map(({ heldMs }) => heldMs))),
        unit: 'ms',
      },
    ];
  },
};

async function scrubAll(megabytes: number, { signal }: PartContext): Promise<readonly Text[]> {
  const options = { secrets: SECRETS, bytes: megabytes * MEGABYTE };
  const driver = await startDriver('scrub-texts', options, signal);
  try {
    const texts: Text[] = [];
    for (;;) {
      const text = await driver.ask<Text>({ text: texts.length });
      if (text.name === null) return texts;
      if (!text.isRight) throw new Error(`secrets were left in ${text.name}`);
      texts.push(text);
    }
  } finally {
    await driver.stop();
  }
}
