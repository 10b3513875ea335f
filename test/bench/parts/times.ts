import type { Part, PartContext } from '../part.ts';
import { measureAgent } from '../times/agent.ts';
import { LOADS, MOST_CHECKS } from '../times/conditions.ts';
import { type Cores, coresOf, moveTo } from '../times/cores.ts';
import { measureExporter } from '../times/exporter.ts';
import { type Outcome, paceOf } from '../times/measured.ts';
import { KINDS } from '../times/probes.ts';
import { rowsOf } from '../times/rows.ts';
import { type Wire, withWire } from '../times/wire.ts';

type Outcomes = ReadonlyMap<string, Outcome>;

/** The accuracy of the times in results, also while the agent lacks CPU. */
export const timesPart: Part = {
  name: 'times',
  method:
    "The agent's results beside what passed the wire: TCP, DNS and URL checks (plain, and over TLS 1.3 with a verified handshake), each every second, of servers behind a TUN device that turns packets round and holds those to a server for 5 to 20 ms; the second half of a plain answer's body comes 10 ms after the first. The truth is the time between the kernel's stamps at the device: SYN and SYN-ACK, question and answer, request and first byte, first and last byte, ClientHello and the end of the server's flight, so the error of tls has the client's own cryptography in it. The error is that of results whose `timing` says that they are exact (uncertain by less than 1 ms), then of all. 100 runs a second unless said otherwise; the agent, or the exporter, has one core to itself, or shares it with a process of the same priority that never rests (a CPU hog), or may use 20 % of it (a CPU quota). The blackbox exporter is asked for each probe when it is due.",
  answer:
    'What the kernel times (tcp, DNS, firstByte) is true in all conditions, also in results that are marked uncertain. What the event loop times is late under load, and the results say so: tls, and the end of a download if its last part comes after the timestamps were taken and before the event loop reads it. Rows with "uncertain ones too" are of all results, the others of exact ones; where a round had no exact result of a kind, the row of those is left out.',
  programs: ['ip', 'taskset', 'chrt', 'prometheus-blackbox-exporter'],
  needsRoot: true,
  async run(context) {
    const cores = coresOf();
    const goBack = moveTo(cores.others);
    const { signal } = context;
    const securePlaces = Math.ceil(MOST_CHECKS / KINDS.length);
    try {
      return await withWire({ securePlaces, core: cores.others, signal }, async (wire) => {
        const agent: Outcomes[] = [];
        const exporter: Outcomes[] = [];
        for (let round = 0; round < context.rounds; round += 1) {
          const found = await measureRound(wire, { cores, round, context });
          agent.push(found.agent);
          exporter.push(found.exporter);
        }
        const of = (rounds: readonly Outcomes[], name: string): readonly Outcome[] =>
          rounds.flatMap((outcomes) => outcomes.get(name) ?? []);
        return LOADS.flatMap(({ conditions }) => conditions).flatMap(({ name: condition }) =>
          rowsOf({ condition, agent: of(agent, condition), exporter: of(exporter, condition) }),
        );
      });
    } finally {
      goBack();
    }
  },
};

interface RoundOptions {
  readonly cores: Cores;
  readonly round: number;
  readonly context: PartContext;
}

/** Measures both under one load directly after each other, in the opposite order every second round. */
async function measureRound(wire: Wire, { cores, round, context }: RoundOptions) {
  const { signal, progress } = context;
  const fixture = { cores, pace: paceOf(context), signal };
  const agent = new Map<string, Outcome>();
  const exporter = new Map<string, Outcome>();
  const takes = [
    { name: 'agent', measure: measureAgent, into: agent },
    { name: 'blackbox exporter', measure: measureExporter, into: exporter },
  ];
  for (const load of LOADS) {
    const conditions = load.conditions.map((condition) => condition.name).join(', ');
    for (const { name, measure, into } of round % 2 === 0 ? takes : takes.toReversed()) {
      signal.throwIfAborted();
      progress(`round ${round + 1} of ${context.rounds}, ${name}: ${conditions}`);
      for (const [condition, outcome] of await measure(wire, load, fixture)) {
        if (outcome.missed === outcome.due)
          throw new Error(`the ${name} did nothing, ${condition}`);
        into.set(condition, outcome);
      }
    }
  }
  return { agent, exporter };
}
