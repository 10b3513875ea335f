import { expect, it } from 'vitest';
import { KnownOneOffs } from '../../../../../src/agent/source/service/known-one-offs.ts';
import { type OneOffMessage, oneOffMessageOf } from '../../../../../src/wire/v1/assignment.ts';
import { MAX_ONE_OFFS } from '../../../../../src/wire/v1/limits.ts';
import { checkOf } from '../../../../support/samples/checks.ts';

const MAX_KNOWN = 10 * MAX_ONE_OFFS;

const RUN = oneOffMessageOf({
  runId: 'run',
  check: checkOf('TCP'),
  reason: 'requested',
  slot: 0,
  sequenceId: 'sequence',
  notBefore: null,
  notAfter: 600_000,
  retriesMade: 0,
  firstStartedAt: null,
});
const run = (n: number): OneOffMessage => ({ ...RUN, runId: `run-${n}` });

it('accepts no one-off run while ten thousand are not done', () => {
  const oneOffs = new KnownOneOffs();
  oneOffs.take(Array.from({ length: MAX_KNOWN }, (_, n) => run(n)));
  expect(oneOffs.take([run(MAX_KNOWN)]).runs).toEqual([]);
  oneOffs.done('run-5');
  expect(oneOffs.take([run(MAX_KNOWN)]).runs).toHaveLength(1);
});

it('stores 64 MiB of runs that are not done, and accepts others when there is capacity (trust model SN18)', () => {
  const oneOffs = new KnownOneOffs();
  const request = { method: 'POST', bodyType: 'RAW', body: 'x'.repeat(1_000_000) } as const;
  const { id: _, ...check } = checkOf('API', { request });
  const messages = Array.from({ length: 69 }, (_, n) => ({ ...run(n), check }));
  expect(oneOffs.take(messages).runs).toHaveLength(67);
  expect(oneOffs.take(messages).runs).toEqual([]);
  oneOffs.done('run-3');
  oneOffs.done('run-3');
  expect(oneOffs.take(messages).runs.map(({ runId }) => runId)).toEqual(['run-67']);
});

it('forgets the run that finished first once it knows ten thousand, and starts it again if it is sent again', () => {
  const oneOffs = new KnownOneOffs();
  const passedOn = (...numbers: readonly number[]) =>
    oneOffs.take(numbers.map(run)).runs.map(({ runId }) => runId);
  const all = Array.from({ length: MAX_KNOWN }, (_, n) => n);
  expect(passedOn(...all)).toHaveLength(MAX_KNOWN);
  expect(passedOn(...all)).toEqual([]);
  oneOffs.done('run-0');
  oneOffs.done('run-1');
  expect(oneOffs.toAcknowledge).toEqual(['run-0', 'run-1']);

  expect(passedOn(MAX_KNOWN)).toEqual([`run-${MAX_KNOWN}`]);
  // The service has withdrawn a run that old: nothing is reported to it.
  expect(oneOffs.toAcknowledge).toEqual(['run-1']);
  expect(passedOn(1, MAX_KNOWN)).toEqual([]);
  expect(passedOn(0)).toEqual(['run-0']);
});

it('reports a cancelled run that it never had as done', () => {
  const oneOffs = new KnownOneOffs();
  oneOffs.take([run(1)]);
  expect([oneOffs.cancelled('run-1'), oneOffs.cancelled('run-2')]).toEqual([true, false]);
  expect(oneOffs.toAcknowledge).toEqual(['run-2']);
  expect(oneOffs.take([run(2)]).runs).toEqual([]);
});

it('refuses a run with a field nested deeper than any stack', () => {
  const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
  const oneOffs = new KnownOneOffs();
  const { runs, refused } = oneOffs.take([
    { ...run(1), check: { ...RUN.check, deep } },
    { ...run(2), check: { ...RUN.check, request: deep } },
  ]);
  expect([runs.length, refused.length]).toEqual([1, 1]);
});
