import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { useResultsFixture } from '../../support/service/results-fixture.ts';
import { useRunningService } from '../../support/service/service-fixture.ts';
import { runTextCampaign } from './support/campaign.ts';
import { changedJson } from './support/protocol/bytes.ts';
import {
  corpusMessages,
  kindOf,
  REQUEST_KINDS,
  REQUESTS,
  type RequestKind,
  resultOf,
} from './support/protocol/messages.ts';
import { ServiceLane, type WireRequest } from './support/protocol/service-lane.ts';
import { IN_A_DATABASE } from './support/responses/probe-campaign.ts';
import { changedValue } from './support/wrong-values.ts';

const MINUTES = 60_000;
const TIMEOUT_MS = 20 * MINUTES * Math.max(1, Number(process.env.BREAK_FACTOR ?? '1'));
/** By the database's clock: no lease ends before the cases do. */
const config = { leaseMs: 3_600_000, retentionDays: 30, staticIpv6s: [] };

type Case =
  | (WireRequest & { readonly mixed: null })
  | { readonly mixed: { readonly garbage: readonly unknown[]; readonly isAgain: boolean } };

const HEADERS = { 'x-agent-protocol': '1', 'content-type': 'application/json' };
/** Mostly correct, because all others are refused before the body is read. */
const headers = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Record<string, string>>(HEADERS) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Record<string, string>>(
      { 'content-type': 'application/json' },
      { ...HEADERS, 'x-agent-protocol': '2' },
      { ...HEADERS, 'x-agent-protocol': '-1' },
      { ...HEADERS, 'x-agent-protocol': '9'.repeat(300) },
      { ...HEADERS, 'content-type': 'text/plain' },
      { ...HEADERS, 'content-type': 'application/json; charset=utf-16' },
      { ...HEADERS, 'content-type': 'application/octet-stream' },
      { 'x-agent-protocol': '1' },
      { ...HEADERS, 'content-encoding': 'br' },
      { ...HEADERS, 'content-encoding': 'gzip, gzip' },
    ),
  },
);
const packing = fc.oneof(
  { weight: 10, arbitrary: fc.constant('none' as const) },
  { weight: 2, arbitrary: fc.constant('gzip' as const) },
  { weight: 1, arbitrary: fc.constantFrom('cut' as const, 'false' as const) },
);
const key = fc.oneof(
  { weight: 40, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.constantFrom('', 'pl_', `pl_${'0'.repeat(32)}`, 'x'.repeat(5000)) },
);

const garbage = kindOf<RequestKind>({
  'poll-request': 4,
  'results-request': 4,
  'release-request': 1,
  'errors-request': 1,
  'artifact-request': 1,
  'handover-request': 1,
}).chain((kind) =>
  fc
    .record({ json: changedJson(REQUESTS[kind]), headers, packing, key })
    .map((made): Case => ({ mixed: null, kind, key: made.key, ...packedAs(made) })),
);

function packedAs(made: {
  readonly json: Buffer;
  readonly headers: Record<string, string>;
  readonly packing: 'none' | 'gzip' | 'cut' | 'false';
}): Pick<WireRequest, 'headers' | 'body'> {
  const { json, packing: way } = made;
  if (way === 'none') return { headers: made.headers, body: json };
  const zipped = gzipSync(json, { level: 1 });
  const bodies = { gzip: zipped, cut: zipped.subarray(0, -6), false: json };
  return { headers: { 'content-encoding': 'gzip', ...made.headers }, body: bodies[way] };
}

/** A body that is nested too deep has its whole batch refused: no parser may crash. */
const TOO_DEEP = '{"a":'.repeat(60);
const record = changedValue([resultOf(0), resultOf(1), null]).filter(
  (value) => !JSON.stringify(value).includes(TOO_DEEP),
);

const mixed = fc
  .record({
    garbage: fc.array(record, { maxLength: 5 }),
    isAgain: fc.boolean(),
  })
  .map((made): Case => ({ mixed: made }));

const BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '), { level: 1 });

/** Unchanged, and as decompression bombs. */
const FIXED: readonly Case[] = REQUEST_KINDS.flatMap((kind) => {
  const sent = { mixed: null, kind, key: null, headers: HEADERS };
  const jsons = REQUESTS[kind].map((value) => Buffer.from(JSON.stringify(value)));
  const bomb = { ...sent, headers: { ...HEADERS, 'content-encoding': 'gzip' }, body: BOMB };
  return [...[...jsons, ...corpusMessages(kind)].map((body) => ({ ...sent, body })), bomb];
});

describe('a service', () => {
  const fixtureOf = useResultsFixture(useRunningService('pglite', { config }));

  it('the service accepts only valid requests of agents', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const lane = await ServiceLane.open(fixtureOf());
    await runTextCampaign<Case>({
      name: 'requests to the service',
      corpus: 'protocol',
      ground: IN_A_DATABASE,
      cases: 5_000,
      bytesOf: (input) => [
        input.mixed === null
          ? input.body.subarray(0, 64 * 1024)
          : Buffer.from(JSON.stringify(input.mixed.garbage)),
      ],
      fixed: FIXED,
      arbitrary: fc.oneof({ weight: 9, arbitrary: garbage }, { weight: 1, arbitrary: mixed }),
      run: (input) =>
        input.mixed === null
          ? lane.run(input)
          : lane.runMixed(input.mixed.garbage, input.mixed.isAgain),
      mustSee: ['2xx', '4xx', 'mixed'],
    });
    await lane.expectUnharmed();
    await lane.close();
  });
});
