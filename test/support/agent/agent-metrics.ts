import type { RunningAgent } from '../service/deployment.ts';
import { askService } from '../service/service-app.ts';

/**
 * The agent's current metrics by series, as Prometheus writes them:
 * `vedette_spool_dropped_total{kind="result",reason="memory"}`.
 */
export async function metricsOf({
  healthPort,
}: Pick<RunningAgent, 'healthPort'>): Promise<(series: string) => number> {
  const { text } = await askService(healthPort, '/metrics', { key: null });
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const space = line.lastIndexOf(' ');
    if (!line.startsWith('#')) values.set(line.slice(0, space), Number(line.slice(space)));
  }
  return (series) => {
    const value = values.get(series);
    if (value === undefined) throw new Error(`there is no ${series} in the metrics`);
    return value;
  };
}
