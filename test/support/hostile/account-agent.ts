import { createHash } from 'node:crypto';
import type { HttpDetail } from '../../../src/model/result/details/http-detail.ts';
import { HTTP_DETAIL } from '../samples/http-results.ts';
import { tlsWith } from '../samples/root-cause-cases.ts';
import { resultOfRun } from '../service/results-fixture.ts';
import type { AskAs } from './account-resources.ts';

interface AgentParts {
  readonly mark: string;
  readonly prefix: string;
  readonly slug: string;
  readonly checkId: string;
}

/**
 * Polls; uploads a passed result, a failed one, a missed slot, an artifact, half of another
 * artifact and an agent error; then leaves.
 */
export async function workAsAgent(ask: AskAs, { mark, prefix, slug, checkId }: AgentParts) {
  const agentId = `${prefix}-agent`;
  const { epoch } = await ask('POST', '/agent/v1/poll', pollOf(agentId));
  const slot = Math.floor(Date.now() / 1000) * 1000 - 60_000;
  const run = { checkId, runLocation: slug, name: mark };
  const passed = resultOfRun({ ...run, slot });
  const failed = resultOfRun({
    ...run,
    slot: slot + 10_000,
    hasFailures: true,
    apiCheckResult: failedDetail(mark),
  });
  const before = slot - 1000;
  const missed = { id: 'm', checkId, slot: before, lastSlot: before, count: 1, reason: mark };
  const results = [passed, failed];
  const batch = { agentId, epoch, results, missed: [missed] };
  const { accepted, rejected } = await ask('POST', '/agent/v1/results', batch);
  if (accepted.length !== 3) throw new Error(`not all was accepted: ${JSON.stringify(rejected)}`);
  let upload = '';
  for (const isHalf of [false, true]) {
    const content = Buffer.from(`${mark} ${isHalf}`);
    const name = `${prefix}-${isHalf}.txt`;
    const about = artifactOf(passed.id, checkId, content, name);
    const begun = await ask('POST', '/agent/v1/artifacts', about);
    upload = begun.uploadId;
    if (isHalf) continue;
    await ask('PUT', begun.parts[0].url, content);
    await ask('POST', `/agent/v1/artifacts/${upload}/complete`, {});
  }
  await ask('POST', '/agent/v1/errors', errorsOf(agentId, mark));
  await ask('POST', '/agent/v1/release', { agentId, epoch, done: [] });
  return { agent: agentId, result: passed.id, upload };
}

/** A run that was refused, after it found a certificate near its expiry. */
export function failedDetail(mark: string): HttpDetail {
  return {
    ...HTTP_DETAIL,
    response: null,
    requestError: `${mark} refused the connection`,
    requestErrorCode: 'CONNECT_REFUSED',
    tls: tlsWith({ subject: `CN=${mark}`, daysRemaining: 5 }),
  };
}

export function pollOf(agentId: string) {
  return {
    agentId,
    instanceId: 'one',
    version: '1.0.0',
    capabilities: {
      types: ['URL', 'API', 'TCP', 'DNS', 'ICMP'],
      ipv6: true,
      icmp: true,
      capture: true,
    },
    concurrency: 10,
    load: { running: 0, queued: 0 },
    revision: 0,
    epoch: 0,
    page: null,
    done: [],
    refused: [],
  };
}

export function artifactOf(resultId: string, checkId: string, content: Buffer, name: string) {
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { resultId, checkId, name, contentType: 'text/plain', bytes: content.length, sha256 };
}

export function errorsOf(agentId: string, word: string) {
  const frame = { function: word, file: 'dist/a.js', line: 1, column: 1 };
  const report = { class: word, code: word, stack: [frame], count: 1, firstAt: 1, lastAt: 2 };
  return { agentId, version: '1', node: '20', platform: 'linux', arch: 'x64', reports: [report] };
}
