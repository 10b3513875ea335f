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
    "The times in the agent's results, compared with packet timestamps: TCP, DNS and URL checks (plain, and over TLS 1.3 with a verified handshake), each every second. The servers are behind a TUN device that reflects packets and delays those to a server by 5 to 20 ms; the second half of the body of a plain response comes 10 ms after the first. The true time is the time between the kernel's timestamps at the device: SYN and SYN-ACK, query and answer, request and first byte, first and last byte, ClientHello and the end of the server's flight. The error of tls therefore includes the cryptography of the client. The error is first that of results whose `timing` says that they are exact (uncertain by less than 1 ms), then that of all results. There are 100 runs a second unless stated otherwise. The agent, or the exporter, has one core to itself, or shares it with a busy process of the same priority (a CPU hog), or may use 20 % of it (a CPU quota). The blackbox exporter gets a request for each probe when it is due.",
  answer:
    'Times that the kernel measures (tcp, DNS, firstByte) are accurate under all conditions, even in results that are marked as uncertain. Times that the event loop measures are too long under load, and the results say so: tls, and the end of a download if its last part arrives after the timestamps were taken and before the event loop reads it. Rows with "uncertain ones too" cover all results, other rows only exact ones. The row of exact results is left out if a round had no exact result of this kind.',
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
