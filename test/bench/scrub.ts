import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

/**
 * How long it takes to look for a thousand secrets in 25 MB, and for how long at most nothing else
 * gets a turn meanwhile. Run by `npm run bench:scrub`, which compiles dist first.
 */

type Scrubbing = typeof import('../../src/model/scrub/scrubber.ts');

const SECRETS = 1_000;
const SIZE = 25_000_000;
const MEGABYTE = 1_000_000;
const CHARACTERS = [
  ...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=-_ "\\%&é',
];
const WORDS =
  'the service could not be reached by its name from this network so the run was tried again and then given up'.split(
    ' ',
  );

/** What is built is loaded as it is: a test runner would make every constant a look-up. */
async function loadBuilt(): Promise<Scrubbing> {
  const path = join(import.meta.dirname, '../../dist/model/scrub/scrubber.js');
  const load = new Function('url', 'return import(url)') as (url: string) => Promise<Scrubbing>;
  return load(pathToFileURL(path).href);
}

const random = (count: number): number => Math.floor(Math.random() * count);
const oneOf = <T>(items: readonly [T, ...T[]] | readonly T[]): T =>
  items[random(items.length)] as T;

const secrets = Array.from({ length: SECRETS }, () =>
  Array.from({ length: 8 + random(40) }, () => oneOf(CHARACTERS)).join(''),
);

function filled(piece: () => string): Buffer {
  const pieces: string[] = [];
  for (let size = 0; size < SIZE; size += pieces.at(-1)?.length ?? 0) pieces.push(piece());
  return Buffer.from(pieces.join('')).subarray(0, SIZE);
}

const TEXTS: Readonly<Record<string, () => Buffer>> = {
  'plain text': () => filled(() => `${oneOf(WORDS)} `),
  'JSON with escapes': () =>
    filled(() => `${JSON.stringify({ id: random(1e9), text: `a "${oneOf(WORDS)}" \\ é\n` })}\n`),
  base64: () => Buffer.from(randomBytes(SIZE).toString('base64').slice(0, SIZE)),
  'near misses': () => filled(() => oneOf(secrets).slice(0, -1 - random(4))),
  'secrets and words': () => filled(() => `${oneOf(secrets)} ${oneOf(WORDS)} ${oneOf(WORDS)} `),
  'escaped for URLs': () =>
    filled(() => encodeURIComponent(`/${oneOf(WORDS)}?a "${oneOf(WORDS)}"`)),
  'escaped for HTML': () => filled(() => `<p class="x">${oneOf(WORDS)} &amp; &quot;b&quot;</p>`),
  'hexadecimal in lines': () => filled(() => `${randomBytes(32).toString('hex')}\n`),
  'random bytes': () => randomBytes(SIZE),
  'a backslash again and again': () => Buffer.alloc(SIZE, '\\'),
  '%61 again and again': () => Buffer.alloc(SIZE, '%61'),
};

/** Turns of the event loop, and the most CPU time between two of them: others may run, too. */
class Turns {
  longestMs = 0;
  #last = process.cpuUsage();

  start(): void {
    this.longestMs = 0;
    this.#last = process.cpuUsage();
  }

  readonly turn = async (): Promise<void> => {
    const { user, system } = process.cpuUsage(this.#last);
    this.longestMs = Math.max(this.longestMs, (user + system) / 1000);
    await nextTurn();
    this.#last = process.cpuUsage();
  };
}

const { buildScrubber } = await loadBuilt();
const turns = new Turns();
turns.start();
const buildStartMs = performance.now();
const scrubber = await buildScrubber(secrets, turns.turn);
const buildMs = performance.now() - buildStartMs;
console.log(
  `${SECRETS} secrets learned in ${buildMs.toFixed(0)} ms, held for ${turns.longestMs.toFixed(1)} ms at most`,
);
for (const [name, make] of Object.entries(TEXTS)) {
  const text = make();
  // The first run compiles what the text needs.
  await scrubber.bytes(text.subarray(0, MEGABYTE));
  turns.start();
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  const masked = await scrubber.bytes(text);
  const wallMs = performance.now() - startMs;
  const { user, system } = process.cpuUsage(cpu);
  const outcome = masked === text ? 'nothing masked' : `${masked.length} bytes left`;
  console.log(
    `${name.padEnd(28)} ${wallMs.toFixed(0).padStart(6)} ms (CPU ${((user + system) / 1000).toFixed(0)} ms), held for ${turns.longestMs.toFixed(1)} ms at most, ${outcome}`,
  );
}
