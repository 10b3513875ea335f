// Simulated agents of one location, in their own process: each holds one long poll over its own
// connection, and saves its assignments. Its argument is {origin, locationKey, apiKey,
// agents} as JSON. Each line of stdin is a command, each line of stdout its outcome:
//   {"join": n}                  agents 0 to n - 1 poll from now on
//   {"settled": checks}          until the agents together have that many checks
//   {"release": agent}           gives its lease back, and waits until the others have all its checks
//   {"leave": agent}             gives its lease back
//   {"change": {method, path, body}, "until": {"variable": [key, value]} | {"check": [id, name]}}
//                                requests it, and waits until all agents concerned have it
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

const { origin, locationKey, apiKey } = JSON.parse(process.argv[2]);
const connections = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
const agents = [];
/** Checked after every answer with changes. */
let look = () => {};
let failure = null;

async function ask(path, { method = 'POST', headers, body, signal }) {
  const json = JSON.stringify(body);
  const answer = await new Promise((resolve, reject) => {
    const asked = request(
      new URL(path, origin),
      {
        agent: connections,
        method,
        signal,
        headers: {
          ...headers,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(json),
          'accept-encoding': 'gzip',
        },
      },
      resolve,
    );
    asked.on('error', reject);
    asked.end(json);
  });
  const bytes = await buffer(answer);
  const text = answer.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
  if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
  return JSON.parse(text);
}

const agentHeaders = { authorization: `Bearer ${locationKey}`, 'x-agent-protocol': '1' };

function newAgent(number) {
  return {
    id: `agent-${number}`,
    revision: 0,
    epoch: 0,
    checks: new Map(),
    variables: new Map(),
    polling: new AbortController(),
    ended: null,
  };
}

function poll(agent, page) {
  return ask('/agent/v1/poll', {
    headers: agentHeaders,
    signal: agent.polling.signal,
    body: {
      agentId: agent.id,
      instanceId: `${agent.id}-1`,
      version: '1.2.3',
      capabilities: {
        types: ['URL', 'API', 'TCP', 'DNS', 'ICMP'],
        ipv6: true,
        icmp: true,
        capture: false,
      },
      concurrency: 100,
      load: { running: 0, queued: 0 },
      revision: agent.revision,
      epoch: agent.epoch,
      page,
      done: [],
      refused: [],
    },
  });
}

/** Applies an answer as real agents do: variables replace the old ones, checks are added. */
function take(agent, answer) {
  agent.epoch = answer.epoch;
  for (const id of answer.remove) agent.checks.delete(id);
  for (const { checkId, check } of answer.upsert) agent.checks.set(checkId, check.name);
  if (answer.location.variables === null) return;
  agent.variables = new Map(answer.location.variables.map(({ key, value }) => [key, value]));
}

async function keepPolling(agent) {
  while (!agent.polling.signal.aborted) {
    let answer = await poll(agent, null);
    const isNews =
      answer.full ||
      answer.location.variables !== null ||
      answer.upsert.length > 0 ||
      answer.remove.length > 0;
    if (answer.full) agent.checks.clear();
    for (;;) {
      take(agent, answer);
      if (answer.nextPage === null) break;
      answer = await poll(agent, answer.nextPage);
    }
    agent.revision = answer.revision;
    if (isNews) look(agent);
  }
}

/** Resolves with the time at which it first held, by performance.now(). */
function until(holds) {
  return new Promise((resolve, reject) => {
    look = (agent) => {
      if (failure !== null) reject(failure);
      else if (holds(agent)) resolve(performance.now());
    };
    look(null);
  });
}

const live = () => agents.filter(({ polling }) => !polling.signal.aborted);
const checksOf = (some) => some.reduce((sum, { checks }) => sum + checks.size, 0);

async function join(count) {
  for (let number = agents.length; number < count; number += 1) {
    const agent = newAgent(number);
    agents.push(agent);
    agent.ended = keepPolling(agent).catch((error) => {
      if (agent.polling.signal.aborted) return;
      failure ??= error;
      look(agent);
    });
  }
  await until(() => agents.every(({ revision }) => revision > 0));
  return {};
}

function ownersOf(some) {
  return new Map(some.flatMap(({ id, checks }) => [...checks.keys()].map((check) => [check, id])));
}

async function settled(checks) {
  const startMs = performance.now();
  const endMs = await until(() => {
    const own = live();
    return checksOf(own) === checks && ownersOf(own).size === checks;
  });
  return { tookMs: Math.max(0, endMs - startMs), shares: live().map((agent) => agent.checks.size) };
}

async function leave(number) {
  const leaver = agents[number];
  leaver.polling.abort();
  await leaver.ended;
  const body = { agentId: leaver.id, epoch: leaver.epoch, done: [] };
  const askedMs = performance.now();
  const { released } = await ask('/agent/v1/release', { headers: agentHeaders, body });
  if (!released) throw new Error(`${leaver.id} had no lease to give back`);
  return { askedMs };
}

async function release(number) {
  const before = ownersOf(live());
  const must = agents[number].checks.size;
  const { askedMs } = await leave(number);
  const knownMs = await until(() => checksOf(live()) >= before.size);
  const after = ownersOf(live());
  const moved = [...before].filter(([check, owner]) => after.get(check) !== owner).length;
  if (after.size !== before.size)
    throw new Error(`${after.size} of ${before.size} checks are left`);
  return { knownMs: knownMs - askedMs, moved, must };
}

async function change({ method, path, body }, wanted) {
  let open;
  if (wanted.variable !== undefined) {
    const [key, value] = wanted.variable;
    open = new Set(live());
    open.knows = (agent) => agent.variables.get(key) === value;
  } else {
    const [check, name] = wanted.check;
    open = new Set(live().filter(({ checks }) => checks.has(check)));
    open.knows = (agent) => agent.checks.get(check) === name;
  }
  if (open.size === 0) throw new Error('the change concerns no agent');
  const concerned = open.size;
  const startMs = performance.now();
  const known = until((agent) => {
    if (agent !== null && open.knows(agent)) open.delete(agent);
    return open.size === 0;
  });
  await ask(path, { method, headers: { authorization: `Bearer ${apiKey}` }, body });
  const answeredMs = performance.now() - startMs;
  return { concerned, answeredMs, knownMs: (await known) - startMs };
}

process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  let answer;
  if (command.join !== undefined) answer = await join(command.join);
  else if (command.settled !== undefined) answer = await settled(command.settled);
  else if (command.release !== undefined) answer = await release(command.release);
  else if (command.leave !== undefined) answer = await leave(command.leave);
  else answer = await change(command.change, command.until);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
process.exit();
