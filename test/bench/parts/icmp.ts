import { NetworkNamespace } from '../../support/network/network-namespace.ts';
import { driveChecks, driveExchange, type EchoRate } from '../icmp/agent-exchange.ts';
import { driveBlackbox, driveFping, fpingRtts, pingRtts } from '../icmp/other-tools.ts';
import { type Responder, withResponder } from '../icmp/responder.ts';
import type { Measured, Part, PartContext, Target } from '../part.ts';
import { quantile } from '../row.ts';

/** The amount of work in a round. */
const FULL = {
  targets: 1_000,
  echoes: 300_000,
  fpingRuns: 5,
  fpingEach: 60,
  checks: 3_000,
  checksWithinMs: 4_000,
  echoesACheck: 10,
  blackboxSeconds: 4,
  pingTargets: 200,
};
const SHORT: typeof FULL = {
  targets: 100,
  echoes: 10_000,
  fpingRuns: 1,
  fpingEach: 20,
  checks: 200,
  checksWithinMs: 500,
  echoesACheck: 3,
  blackboxSeconds: 1,
  pingTargets: 10,
};
const IN_FLIGHT = 1_000;

interface Round {
  readonly ours: EchoRate;
  readonly fping: EchoRate;
  readonly checkCpuMs: number;
  readonly blackboxCpuMs: number;
  readonly errors: Errors;
}

/** Milliseconds, for each tool. */
interface Errors {
  readonly ours: readonly number[];
  readonly fping: readonly number[];
  readonly ping: readonly number[];
}

/** How many echoes the agent can send, their CPU time, and the accuracy of their round trips. */
export const icmpPart: Part = {
  name: 'icmp',
  method:
    "In a separate network namespace, through unprivileged ICMP sockets if the program supports them. The agent's exchange, with 1,000 echo requests in flight, is compared with fping without pauses, for 1,000 loopback addresses. Probes of 10 echo requests, without the rest of the agent, are compared with those of the blackbox exporter, which send one for each HTTP request. The error is the difference between the measured round trip and the time between the kernel's timestamps at a TUN device, at which the request leaves and the reply arrives. Behind the device, 1,000 targets delay each reply by 5 to 50 ms. fping prints these times with a resolution of 0.1 ms, so up to 0.05 ms of its error are rounding.",
  programs: ['ip', 'sysctl', 'fping', 'ping', 'prometheus-blackbox-exporter', 'wrk'],
  needsRoot: true,
  async run(context) {
    const rounds: Round[] = [];
    for (let round = 0; round < context.rounds; round += 1) {
      context.progress(`ICMP, round ${round + 1} of ${context.rounds}`);
      const namespace = new NetworkNamespace();
      try {
        namespace.allowPing('all');
        rounds.push(await measure(namespace, round, context));
      } finally {
        namespace.remove();
      }
    }
    return rowsOf(rounds, context.short ? SHORT : FULL);
  },
};

async function measure(
  namespace: NetworkNamespace,
  round: number,
  { short, signal }: PartContext,
): Promise<Round> {
  const size = short ? SHORT : FULL;
  const { echoes, fpingRuns: runs, fpingEach: echoesEach } = size;
  const addresses = loopback(size.targets);
  const warmUpEchoes = echoes / 10;
  const options = { addresses, warmUpEchoes, echoes, inFlight: IN_FLIGHT };
  // The order changes from round to round, so that neither is always first.
  const [ours, fping] = await inTurn(round, signal, [
    () => driveExchange(namespace, options),
    () => driveFping(namespace, addresses, { echoesEach, runs }),
  ]);
  const checks = {
    addresses: loopback(size.checks),
    pingCount: size.echoesACheck,
    startWithinMs: size.checksWithinMs,
    warmUpChecks: size.checks,
  };
  const [{ cpuMsEach: checkCpuMs }, blackboxCpuMs] = await inTurn(round, signal, [
    () => driveChecks(namespace, checks),
    () => driveBlackbox(namespace, addresses, size.blackboxSeconds),
  ]);
  const errors = await withResponder(namespace, size.targets, (responder) =>
    measureErrors(namespace, responder, size, signal),
  );
  return { ours, fping, checkCpuMs, blackboxCpuMs, errors };
}

async function measureErrors(
  namespace: NetworkNamespace,
  responder: Responder,
  { echoesACheck: count, pingTargets }: typeof FULL,
  signal: AbortSignal,
): Promise<Errors> {
  const { addresses } = responder;
  const checks = { addresses, pingCount: count, startWithinMs: 500, warmUpChecks: 0 };
  const { rttsMs } = await driveChecks(namespace, checks);
  const ours = await responder.errorsMs(rttsMs);
  signal.throwIfAborted();
  const fping = await responder.errorsMs(await fpingRtts(namespace, addresses, count));
  signal.throwIfAborted();
  const every = Math.max(1, Math.floor(addresses.length / pingTargets));
  const some = addresses.filter((_, n) => n % every === 0);
  const ping = await responder.errorsMs(await pingRtts(namespace, some));
  return { ours, fping, ping };
}

function rowsOf(rounds: readonly Round[], { echoesACheck, targets }: typeof FULL): Measured[] {
  const each = (figure: (round: Round) => number): number[] => rounds.map(figure);
  const error = (share: number, name: string, number: number): Measured[] => {
    const measure = `Error of the round trip to ${targets.toLocaleString('en')} delaying targets, ${name}`;
    const values = each(({ errors }) => quantile(errors.ours, share));
    const target: Target = { of: 'value', bound: 'at most', number };
    const unit = 'ms';
    const fping = each(({ errors }) => quantile(errors.fping, share));
    const ping = each(({ errors }) => quantile(errors.ping, share));
    return [
      { measure, values, unit, beside: { name: 'fping', values: fping }, target },
      { measure, values, unit, beside: { name: 'ping, one at a time', values: ping }, target },
    ];
  };
  return [
    {
      measure: 'ICMP echoes, the exchange at its limit',
      values: each(({ ours }) => ours.perSecond),
      unit: 'echoes/s',
      beside: { name: 'fping', values: each(({ fping }) => fping.perSecond) },
      target: { of: 'value', bound: 'at least', number: 20_000 },
    },
    {
      measure: 'ICMP echo at the limit, CPU',
      values: each(({ ours }) => ours.cpuUsEach),
      unit: 'µs',
      beside: { name: 'fping', values: each(({ fping }) => fping.cpuUsEach) },
    },
    {
      measure: `ICMP probe alone, of ${echoesACheck} echoes (the exporter's: of 1), CPU`,
      values: each(({ checkCpuMs }) => checkCpuMs),
      unit: 'ms',
      beside: { name: 'blackbox exporter', values: each(({ blackboxCpuMs }) => blackboxCpuMs) },
    },
    ...error(0.5, 'median', 0.05),
    ...error(0.99, 'p99', 0.5),
  ];
}

async function inTurn<Ours, Peers>(
  round: number,
  signal: AbortSignal,
  [ours, peers]: readonly [() => Promise<Ours>, () => Promise<Peers>],
): Promise<[Ours, Peers]> {
  signal.throwIfAborted();
  if (round % 2 === 0) {
    const first = await ours();
    signal.throwIfAborted();
    return [first, await peers()];
  }
  const first = await peers();
  signal.throwIfAborted();
  return [await ours(), first];
}

function loopback(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `127.${n >> 8}.${n & 255}.1`);
}
