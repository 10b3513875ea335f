import { expect, it } from 'vitest';
import { sequenceIdOf } from '../../../../src/model/ids.ts';
import {
  spanIdOf,
  traceIdOf,
  traceKeyOf,
  traceparentOf,
} from '../../../../src/model/result/trace-context.ts';

const RUN = sequenceIdOf('shop', 'office', 1_700_000_000_000);

it('the trace of a run is its sequence id, and its spans have ids of their own', () => {
  expect(traceIdOf(RUN)).toBe(RUN.replaceAll('-', ''));
  const spans = [spanIdOf(RUN), spanIdOf(RUN, 1), spanIdOf(RUN, 2), spanIdOf(RUN, 1, 'dns')];
  expect(new Set(spans).size).toBe(4);
  for (const span of spans) expect(span).toMatch(/^[0-9a-f]{16}$/);
  expect(spanIdOf(RUN, 1)).toBe(spans[1]);
});

it('a sequence id of another form has a trace, too', () => {
  for (const id of ['run-7', '00000000-0000-0000-0000-000000000000']) {
    expect(traceIdOf(id)).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
  }
});

it('agents of the same check file have traces of their own, and agents of a service share them', () => {
  const keys = [RUN, traceKeyOf(RUN, 'one'), traceKeyOf(RUN, 'two')];
  expect(new Set(keys.map((key) => traceIdOf(key))).size).toBe(3);
  expect(new Set(keys.map((key) => spanIdOf(key, 1))).size).toBe(3);
  expect(traceKeyOf(RUN, null)).toBe(RUN);
});

it('traceparent has the form of W3C Trace Context, sampled', () => {
  expect(traceparentOf(RUN, 1)).toMatch(/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-01$/);
});
