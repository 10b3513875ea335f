import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { makeTestFolder } from '../process/test-folder.ts';
import { until } from '../service/deployment.ts';
import { PROMETHEUS_CONFIG, RULE_FILES, type ScrapeJob } from './prometheus-files.ts';

/** From Debian's package `prometheus`. */
export const PROMETHEUS_NEEDS = { commands: ['prometheus', 'promtool'], files: [] };

/** One value of an instant query: its labels, and the number. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Prometheus {
  /** @throws Error with Prometheus' message about the expression */
  query(expression: string): Promise<readonly Sample[]>;
  /** Each alert rule with its last evaluation. */
  rules(): Promise<
    readonly { readonly name: string; readonly state: string; readonly health: string }[]
  >;
}

/**
 * A Prometheus with the configuration of docker/prometheus, at an interval of one second, that
 * scrapes the given ports of each job, and what further scrape configurations say. Removed when the test
 * ends.
 */
export async function startPrometheus(
  ports: Readonly<Record<string, readonly number[]>>,
  further: readonly object[] = [],
): Promise<Prometheus> {
  const folder = makeTestFolder();
  const config = parse(readFileSync(PROMETHEUS_CONFIG, 'utf8'));
  config.global = { scrape_interval: '1s', evaluation_interval: '1s' };
  config.rule_files = RULE_FILES;
  const jobs = config.scrape_configs.map((job: ScrapeJob) => ({
    ...job,
    static_configs: [{ targets: ports[job.job_name]?.map((port) => `127.0.0.1:${port}`) ?? [] }],
  }));
  config.scrape_configs = [...jobs, ...further];
  writeFileSync(join(folder, 'prometheus.yaml'), stringify(config));
  const port = await freePort();
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
  const ended = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  const get = async (path: string): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`);
  await until(
    () =>
      get('/-/ready').then(
        ({ ok }) => ok,
        () => false,
      ),
    (isReady) => isReady || child.exitCode !== null,
  );
  const data = async (path: string) => {
    const answer = (await (await get(path)).json()) as {
      readonly status: string;
      readonly error?: string;
      // biome-ignore lint/suspicious/noExplicitAny: its form depends on the request
      readonly data: any;
    };
    if (answer.status !== 'success') throw new Error(`${path}: ${answer.error}`);
    return answer.data;
  };
  return {
    async query(expression) {
      const { result } = await data(`/api/v1/query?query=${encodeURIComponent(expression)}`);
      return result.map(
        ({ metric, value }: { metric: Sample['labels']; value: [number, string] }) => ({
          labels: metric,
          value: Number(value[1]),
        }),
      );
    },
    async rules() {
      const { groups } = await data('/api/v1/rules?type=alert');
      return groups.flatMap(({ rules }: { rules: unknown[] }) => rules);
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
