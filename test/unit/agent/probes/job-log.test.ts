import { expect, it } from 'vitest';
import { JobLog } from '../../../../src/agent/probes/job-log.ts';
import { commonDetail } from '../../../../src/wire/v1/details/common-detail.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

it('a job log ends with its conclusion, however long it is', () => {
  const log = new JobLog(new FakeClock());
  log.conclude('error', 'Failed: status 500');
  for (let line = 0; line < 250; line += 1) log.info(`line ${line}`);
  const told = log.entries().map(({ msg }) => msg);
  expect(told.length).toBe(202);
  expect(told.slice(-3)).toEqual(['line 199', '50 more lines were left out', 'Failed: status 500']);
});

it('the conclusion of a job log is limited, too', () => {
  const log = new JobLog(new FakeClock());
  for (let line = 0; line < 100; line += 1) log.conclude('info', 'x'.repeat(5000));
  expect(log.entries().length).toBe(50);
  expect(log.entries()[0]?.msg.length).toBe(2001);
});

it('a job log fits into a result, however many entries were added', () => {
  const log = new JobLog(new FakeClock());
  for (let line = 0; line < 300; line += 1) log.info(`line ${line}`);
  for (let line = 0; line < 300; line += 1) log.conclude('info', `last ${line}`);
  expect(commonDetail.jobLog.parse(log.entries())).toEqual(log.entries());
});
