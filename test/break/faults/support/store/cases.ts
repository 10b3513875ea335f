import type { Fault, FaultKind, StoreRun } from './faults.ts';
import { type CaseFixture, openFixture, stallOf } from './fixture.ts';
import type { FaultService } from './service.ts';
import { contradictions, differences, rowsInTheEnd } from './tables.ts';

/** A workload with the same outcome whichever single call of the store fails. */
export interface Scenario {
  readonly name: string;
  /** Runs without faults. @returns the workload with faults */
  prepare(fixture: CaseFixture): Promise<() => Promise<Ending>>;
}

/** The results of a scenario besides its rows. */
export interface Ending {
  /** Effects on others, which must be the same in each run. */
  readonly seen?: readonly string[];
  /** Rows that may exist or not, because an answer was lost. */
  readonly mayDiffer?: (row: string, kind: FaultKind) => boolean;
  /** The slots follow the service's clock, which is later after a retry. */
  readonly slotsVary?: boolean;
}

export interface CaseReport {
  readonly run: StoreRun;
  /** The final state. */
  readonly end: readonly string[];
  readonly mayDiffer: NonNullable<Ending['mayDiffer']>;
  /** Violations of invariants, with any fault. */
  readonly wrong: readonly string[];
}

const NO_RUN: StoreRun = { calls: [], through: new Set(), hit: new Set() };

/** Every loop of the service makes this call in each iteration. */
const LOOPS = [
  'query agents/assignment/location-changes.sql.ts locationsToAssign',
  'query alerts/delivery/claims.sql.ts claimDeliveries',
  'query check-runs/expiry.sql.ts listOverdueRuns',
  'query root-cause/claims.sql.ts claimPending',
  'statement alerts/states.sql.ts claimDueSubjects',
  'statement heartbeats/sql.ts lockDue',
] as const;

/** Runs the scenario once, in its own account, and collects its outcome. */
export async function runCase(
  service: FaultService,
  scenario: Scenario,
  faults: readonly Fault[],
): Promise<CaseReport> {
  const fixture = await openFixture(service);
  const rejections: string[] = [];
  const onRejection = (reason: unknown): void => void rejections.push(`unhandled: ${reason}`);
  process.on('unhandledRejection', onRejection);
  const wrong: string[] = [];
  let end: readonly string[] = [];
  let mayDiffer: CaseReport['mayDiffer'] = () => false;
  let run: StoreRun | null = null;
  try {
    const act = await scenario.prepare(fixture);
    await service.quiet();
    service.takeErrors();
    service.faulty.begin(faults, stallOf(fixture));
    const ending = await act();
    mayDiffer = ending.mayDiffer ?? mayDiffer;

    await settle(fixture);

    run = service.faulty.end();
    // A loop may be in the middle of its next iteration.
    await fixture.passUntil('all calls of the store end', async () => service.faulty.open === 0);
    wrong.push(...(await contradictions(fixture)), ...(await leftOpen(service)));

    const rows = await rowsInTheEnd(fixture, ending.slotsVary === true);
    end = [...rows, ...(ending.seen ?? []).map((one) => `seen ${one}`)];
  } catch (error) {
    wrong.push(error instanceof Error ? error.message : String(error));
  } finally {
    service.faulty.release();
    run ??= service.faulty.end() ?? NO_RUN;
    await service.quiet();
    wrong.push(...fixture.clients.faults, ...service.takeErrors(), ...rejections);
    process.off('unhandledRejection', onRejection);
    await fixture.close();
    // A fault of this case must not affect the next ones.
    if (wrong.length > 0) {
      await service.stopService();
      await service.startService();
    }
  }
  return { run, end, mayDiffer, wrong };
}

/** Waits until every loop has run once more and finished the account's work. */
async function settle(fixture: CaseFixture): Promise<void> {
  const { service } = fixture;
  const { faulty, store } = service;
  await service.quiet();
  const before = LOOPS.map((name) => faulty.countOf(name));
  await store.query("select pg_notify('vedette_changes', ''), pg_notify('vedette_notices', '')");
  await fixture.passUntil('all loops go on', async () => {
    const isOn = LOOPS.every((name, at) => faulty.countOf(name) > (before[at] ?? 0));
    if (!isOn) return false;
    const [row] = await fixture.rows(
      `select (select count(*) from alert_deliveries
           where account_id = $1 and finished_at is null)
         + (select count(*) from root_cause_analyses where account_id = $1 and state = 'PENDING')
         + (select count(*) from location_changes c join private_locations l
           on l.id = c.location_id where l.account_id = $1) as left_over`,
    );
    return row?.leftOver === 0;
  });
}

/** Statements, transactions and connections that were never ended. */
async function leftOpen({ faulty, store }: FaultService): Promise<readonly string[]> {
  if (faulty.open > 0) return [`${faulty.open} calls of the store never ended`];
  const transactionOf = async (): Promise<unknown> => {
    const [row] = await store.query<{ id: string }>('select pg_current_xact_id()::text as id');
    return row?.id;
  };
  const [row] = await store.query<{ idle: number }>(
    `select count(*) as idle from pg_stat_activity
     where datname = current_database() and state like 'idle in transaction%'`,
  );
  // Each statement has its own, unless one was left open.
  const first = await transactionOf();
  if (row?.idle === 0 && first !== (await transactionOf())) return [];
  return ['a connection is still in a transaction'];
}

/** Differences between a case and a run without faults, one line each. */
export function faultsIn(
  normal: CaseReport,
  report: CaseReport,
  kind: FaultKind,
): readonly string[] {
  if (report.wrong.length > 0) return report.wrong;
  return differences(normal.end, report.end).filter((line) => !report.mayDiffer(line, kind));
}
