import type { Measured, Part, PartContext } from '../part.ts';
import { measureAssignment } from '../service/assignment.ts';
import { openPglite, startBenchServer } from '../service/bench-database.ts';
import { measureEventStreams } from '../service/event-streams.ts';
import { measureFanOut } from '../service/fan-out.ts';
import { measureIngest } from '../service/ingest.ts';
import { measureLongWork } from '../service/long-work.ts';

const INGEST = { of: 'value', bound: 'at least', number: 5_000 } as const;

/** What the service does for many agents: accepts results, sends changes, assigns checks. */
export const servicePart: Part = {
  name: 'service',
  method:
    'The built service in a separate process, on PostgreSQL with fsync (or on PGlite), on the same machine as its clients. Ingest: 8 connections send gzip batches of 250 results of 3.4 KB. Fan-out: simulated agents hold their long polls in a plain Node process, which also requests the change through the API and stops the time when the last affected agent has it. Event streams: clients of accounts with at most 200 streams each, in a plain Node process that commits an event of every account in one transaction and stops the time when each client has it. Assignment: the time until the agents together have every check once. Stalls: templates are rendered in a plain Node process; for request bodies, a client requests the liveness of the service all the time, and the stall is the longest wait in any round.',
  answer:
    'The checks of a leaving agent (20,142 here) are reassigned in transactions of 5,000. Each of them takes about 150 ms, most of it for rows in three indexes, while the other agents fetch the checks of the transaction before. Single rounds took 0.83 to 1.16 s.',
  programs: [],
  async run(context) {
    const { short } = context;
    const checks = short ? 2_000 : 100_000;
    const agents = short ? 50 : 1_000;
    const server = await startBenchServer();
    try {
      return [
        await measureIngest(await server.open(), short ? 2_000 : 40_000, INGEST, context),
        // Creating one takes longer than a short run should.
        ...(short ? [] : [await ingestOnPglite(context)]),
        ...(await measureFanOut(await server.open(), agents, context)),
        ...(await measureEventStreams(await server.open(), 4, context)),
        ...(await measureEventStreams(await server.open(), short ? 100 : 1_000, context)),
        ...(await measureAssignment(await server.open(), checks, context)),
        ...(await measureLongWork(await server.open(), context)),
      ];
    } finally {
      await server.remove();
    }
  },
};

async function ingestOnPglite(context: PartContext): Promise<Measured> {
  const database = await openPglite();
  try {
    return await measureIngest(database, 14_000, undefined, context);
  } finally {
    await database.remove();
  }
}
