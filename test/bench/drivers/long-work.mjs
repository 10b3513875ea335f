// How long the longest work that users can cause blocks the service's event loop. Its argument
// is {origin, apiKey} as JSON, of a running service. Its first line says that it is ready. Each line of
// stdin, {"work": number}, is answered with {"name", "stallMs"}; {"name": null} where there is no such
// work. Several works may have one name. Templates are rendered in this process by dist, and timed in CPU
// time, since the service renders them with the texts of a check only for an alert. Bodies go to the
// service: its stall is the longest wait of a client that asks for its liveness all the while.
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { escapeFor } from '../../../dist/service/outgoing/escape.js';
import { renderTemplate } from '../../../dist/service/outgoing/template.js';

const { origin, apiKey } = JSON.parse(process.argv[2]);
const MAX_TAGS = 200;
const MAX_TEMPLATE_CHARS = 10_000;
const MAX_KEYS = 20_000;
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** Texts of the greatest length for a check and a notice, of characters that are escaped. */
const VARIABLES = {
  TAGS: Array.from({ length: 100 }, (_, at) => String(at).padEnd(255, '"')),
  ERROR_MESSAGE: '"'.repeat(2_000),
  CHECK_NAME: '"'.repeat(255),
};

const TEMPLATES = [
  // The template with the longest output.
  `${'{{json TAGS}}'.repeat(4)}${'{{ERROR_MESSAGE}}'.repeat(12)}${'{{CHECK_NAME}}'.repeat(6)}`,
  // The templates with the most calls and the most texts.
  `{{#each TAGS}}${'{{eq this ../CHECK_NAME}}'.repeat(MAX_TAGS - 2)}{{/each}}`,
  `{{#each TAGS}}${'{{#if (eq this ../CHECK_NAME)}}{{else}}x{{/if}}'.repeat(MAX_TAGS / 3 - 1)}{{/each}}`,
  '{{json (eq ERROR_MESSAGE CHECK_NAME)}}'.repeat(MAX_TAGS),
];
/** Leaves room for a number before it. */
const BRACES = '{{'.repeat(MAX_TEMPLATE_CHARS / 2 - 5);

const client = new Agent({ keepAlive: true });
const prober = new Agent({ keepAlive: true });

function send(path, { agent = client, method = 'GET', body } = {}) {
  return new Promise((resolve, reject) => {
    const asked = request(
      new URL(path, origin),
      {
        agent,
        method,
        headers: {
          authorization: `Bearer ${apiKey}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
      },
      (response) => response.resume().on('end', () => resolve(response.statusCode)),
    );
    asked.on('error', reject);
    asked.end(body);
  });
}

/** The longest wait of the prober while the request is answered. */
async function stallOf(path, body, expected) {
  let isOver = false;
  const posted = send(path, { method: 'POST', body }).finally(() => {
    isOver = true;
  });
  let longestMs = 0;
  while (!isOver) {
    const startMs = performance.now();
    await send('/-/liveness', { agent: prober });
    longestMs = Math.max(longestMs, performance.now() - startMs);
  }
  const status = await posted;
  if (status !== expected) throw new Error(`${path} was answered ${status}`);
  return longestMs;
}

/** As many unknown keys as a body may have, each as long as fits. */
function unknownKeys(chars) {
  const fields = Array.from(
    { length: MAX_KEYS },
    (_, at) => `"${String(at).padEnd(chars, 'k')}":0`,
  );
  return `{${fields.join(',')}}`;
}
const SHORT_KEY_CHARS = 8;
const LONGEST_KEY_CHARS = Math.floor(MAX_BODY_BYTES / MAX_KEYS) - 6;

let made = 0;
/** Another text each time: a template is compiled once. */
const fresh = (template) => {
  made += 1;
  return `${made} ${template}`;
};

/** In CPU time: other processes may run, too. */
function render(template, isAccepted) {
  const text = fresh(template);
  const start = process.cpuUsage();
  const rendered = renderTemplate(text, VARIABLES, escapeFor('application/json'));
  const { user, system } = process.cpuUsage(start);
  if (rendered.ok !== isAccepted) throw new Error(`${template.slice(0, 40)}: ${rendered.problem}`);
  return (user + system) / 1_000;
}

const WORKS = [
  ...TEMPLATES.map((template) => ['a template that is accepted', () => render(template, true)]),
  ['a template of 10 KB of {{', () => render(BRACES, false)],
  ...['/v1/checks/url', '/v1/alert-channels'].flatMap((path) =>
    [SHORT_KEY_CHARS, LONGEST_KEY_CHARS].map((chars) => [
      `a body of ${MAX_KEYS.toLocaleString('en')} unknown keys`,
      () => stallOf(path, unknownKeys(chars), 400),
    ]),
  ),
];

const say = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);
say({});
for await (const line of createInterface({ input: process.stdin })) {
  const [name, measure] = WORKS[JSON.parse(line).work] ?? [null];
  if (name === null) say({ name });
  else say({ name, stallMs: await measure() });
}
