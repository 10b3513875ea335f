import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { cpuMsOf } from '../cpu-time.ts';
import { runToEnd, startChild } from './child-process.ts';
import { freePorts } from './free-ports.ts';

export interface BlackboxRate {
  readonly perSecond: number;
  readonly cpuMsEach: number;
}

export interface Blackbox {
  readonly pid: number;
  /** Makes one probe and returns its metrics. @throws Error if it fails */
  probe(module: string, target: string): Promise<string>;
  /** Makes as many probes as possible for some seconds, through wrk. @throws Error if one fails */
  drive(module: string, targets: readonly string[], seconds: number): Promise<BlackboxRate>;
  /** Makes this many probes a second. @throws Error if one fails */
  ask(
    module: string,
    targets: readonly string[],
    perSecond: number,
    seconds: number,
  ): Promise<BlackboxRate>;
}

const AT_ONCE = 32;

/**
 * Requests a probe of each target in turn, and checks every response.
 * In wrk each thread has its own script instance; `done` sees all of them.
 */
const WRK_SCRIPT = `
  local targets = {}
  local turn = 0
  local threads = {}
  bad = 0
  function setup(thread) table.insert(threads, thread) end
  function init(args) for i = 2, #args do table.insert(targets, "/probe?module=" .. args[1] .. "&target=" .. args[i]) end end
  function request() turn = turn + 1 return wrk.format("GET", targets[turn % #targets + 1]) end
  function response(status, headers, body)
    if status ~= 200 or not string.find(body, "probe_success 1", 1, true) then bad = bad + 1 end
  end
  function done(summary, latency, requests)
    local bad = 0
    for _, thread in ipairs(threads) do bad = bad + thread:get("bad") end
    io.write(string.format("\\nRESULT %d %d %d\\n", summary.requests, bad, summary.duration))
  end
`;

/**
 * Runs the blackbox exporter with these modules, in its own configuration format.
 *
 * @param prefix goes before its command and wrk's: `['ip', 'netns', 'exec', 'bench']`
 */
export async function withBlackbox<Value>(
  modules: object,
  work: (blackbox: Blackbox) => Promise<Value>,
  prefix: readonly string[] = [],
): Promise<Value> {
  const commandOf = (program: string, args: readonly string[]): [string, readonly string[]] => {
    const [first = program, ...rest] = [...prefix, program, ...args];
    return [first, rest];
  };
  const folder = makeTempFolder();
  writeFileSync(folder.file('blackbox.yaml'), JSON.stringify({ modules }));
  writeFileSync(folder.file('drive.lua'), WRK_SCRIPT);
  const [port = 0] = await freePorts(1);
  const settings = [
    `--config.file=${folder.file('blackbox.yaml')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const exporter = await startChild(...commandOf('prometheus-blackbox-exporter', settings), {
    readyOn: { stream: 'stderr', pattern: /Listening on/ },
  });
  try {
    const urlOf = (module: string, target: string): string =>
      `http://127.0.0.1:${port}/probe?module=${module}&target=${target}`;
    return await work({
      pid: exporter.pid,
      probe: (module, target) => probeOnce(urlOf(module, target)),
      async drive(module, targets, seconds) {
        const beforeMs = cpuMsOf(exporter.pid);
        const args = ['-t1', `-c${AT_ONCE}`, `-d${seconds}s`, '-s', folder.file('drive.lua')];
        const url = `http://127.0.0.1:${port}`;
        const asked = [...args, url, '--', module, ...targets];
        const { stdout } = await runToEnd(...commandOf('wrk', asked));
        const cpuMs = cpuMsOf(exporter.pid) - beforeMs;
        const [, probes = 0, bad = 0, durationUs = 0] =
          /RESULT (\d+) (\d+) (\d+)/.exec(stdout)?.map(Number) ?? [];
        if (probes === 0 || bad > 0) {
          throw new Error(`${bad} of ${probes} probes of the blackbox exporter failed (${module})`);
        }
        return { perSecond: probes / (durationUs / 1e6), cpuMsEach: cpuMs / probes };
      },
      async ask(module, targets, perSecond, seconds) {
        const beforeMs = cpuMsOf(exporter.pid);
        const probes = perSecond * seconds;
        const targetOf = (n: number): string => targets[n % targets.length] ?? '';
        const startMs = performance.now();
        const asked: Promise<string>[] = [];
        while (asked.length < probes) {
          const due = ((performance.now() - startMs) / 1000) * perSecond;
          while (asked.length < due) {
            asked.push(probeOnce(urlOf(module, targetOf(asked.length))));
          }
          await delay(1);
        }
        await Promise.all(asked);
        const cpuMs = cpuMsOf(exporter.pid) - beforeMs;
        const tookMs = performance.now() - startMs;
        return { perSecond: probes / (tookMs / 1000), cpuMsEach: cpuMs / probes };
      },
    });
  } finally {
    await exporter.stop();
    folder.remove();
  }
}

async function probeOnce(url: string): Promise<string> {
  const answer = await (await fetch(url)).text();
  if (!answer.includes('probe_success 1')) throw new Error(`${url} did not succeed`);
  return answer;
}
