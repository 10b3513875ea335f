// Looks for a thousand secrets in texts, with the scrubber of dist. Its argument is {secrets, bytes}
// as JSON. It learns the secrets, says {"buildMs", "heldMs"} on a line of stdout, and each line of
// stdin, {"text": number}, is answered with {"name", "tookMs", "heldMs", "isRight"}; {"name": null}
// where there is no such text.
import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { buildScrubber } from '../../../dist/scrub/scrubber.js';

const { secrets: count, bytes: SIZE } = JSON.parse(process.argv[2]);
const MEGABYTE = 1_000_000;
const CHARACTERS = [
  ...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=-_ "\\%&é',
];
const WORDS =
  'the service could not be reached by its name from this network so the run was tried again and then given up'.split(
    ' ',
  );

const random = (below) => Math.floor(Math.random() * below);
const oneOf = (items) => items[random(items.length)];
const secrets = Array.from({ length: count }, () =>
  Array.from({ length: 8 + random(40) }, () => oneOf(CHARACTERS)).join(''),
);

function filled(piece) {
  const pieces = [];
  for (let size = 0; size < SIZE; size += pieces.at(-1).length) pieces.push(piece());
  return Buffer.from(pieces.join('')).subarray(0, SIZE);
}

const TEXTS = [
  ['plain text', false, () => filled(() => `${oneOf(WORDS)} `)],
  [
    'JSON with escapes',
    false,
    () =>
      filled(() => `${JSON.stringify({ id: random(1e9), text: `a "${oneOf(WORDS)}" \\ é\n` })}\n`),
  ],
  ['base64', false, () => Buffer.from(randomBytes(SIZE).toString('base64').slice(0, SIZE))],
  ['near misses', false, () => filled(() => oneOf(secrets).slice(0, -1 - random(4)))],
  [
    'secrets and words',
    true,
    () => filled(() => `${oneOf(secrets)} ${oneOf(WORDS)} ${oneOf(WORDS)} `),
  ],
  [
    'text escaped for URLs',
    false,
    () => filled(() => encodeURIComponent(`/${oneOf(WORDS)}?a "${oneOf(WORDS)}"`)),
  ],
  [
    'text escaped for HTML',
    false,
    () => filled(() => `<p class="x">${oneOf(WORDS)} &amp; &quot;b&quot;</p>`),
  ],
  ['hexadecimal in lines', false, () => filled(() => `${randomBytes(32).toString('hex')}\n`)],
  ['random bytes', false, () => randomBytes(SIZE)],
  ['a backslash again and again', false, () => Buffer.alloc(SIZE, '\\')],
  ['%61 again and again', false, () => Buffer.alloc(SIZE, '%61')],
];

/** The most CPU time between two turns of the event loop; other processes may run meanwhile. */
let longestMs = 0;
let last = process.cpuUsage();
async function turn() {
  const { user, system } = process.cpuUsage(last);
  longestMs = Math.max(longestMs, (user + system) / 1000);
  await nextTurn();
  last = process.cpuUsage();
}

async function timed(work) {
  longestMs = 0;
  last = process.cpuUsage();
  const startMs = performance.now();
  const value = await work();
  return { value, tookMs: performance.now() - startMs, heldMs: longestMs };
}

const say = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);
const { value: scrubber, ...built } = await timed(() => buildScrubber(secrets, turn));
say(built);
for await (const line of createInterface({ input: process.stdin })) {
  const [name, isSecret, make] = TEXTS[JSON.parse(line).text] ?? [null];
  if (name === null) {
    say({ name });
    continue;
  }
  const text = make();
  // The first run compiles what the text needs.
  await scrubber.bytes(text.subarray(0, MEGABYTE));
  const { value: masked, tookMs, heldMs } = await timed(() => scrubber.bytes(text));
  // Secrets of every kind, in the part that is searched quickly: none may remain.
  const part = masked.subarray(0, MEGABYTE);
  const isLeft = isSecret && secrets.some((secret) => part.includes(secret));
  say({ name, tookMs, heldMs, isRight: !isLeft && (!isSecret || masked !== text) });
}
