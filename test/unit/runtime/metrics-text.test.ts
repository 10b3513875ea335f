import { Gauge, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { sharedMetricsText } from '../../../src/runtime/metrics-text.ts';
import { createServiceMetrics, NO_COUNTS } from '../../../src/service/http/metrics.ts';

it('renders the metrics once for concurrent calls, and again for later ones', async () => {
  const registry = new Registry();
  let read = 0;
  new Gauge({
    name: 'reads',
    help: 'How often it was read.',
    registers: [registry],
    collect() {
      read += 1;
      this.set(read);
    },
  });
  const text = sharedMetricsText(registry);
  const first = '# HELP reads How often it was read.\n# TYPE reads gauge\nreads 1\n';
  expect(await Promise.all([text(), text(), text()])).toEqual([first, first, first]);
  expect(await text()).toContain('reads 2\n');
});

it('is used for the metrics of the service', async () => {
  let read = 0;
  const metrics = createServiceMetrics({
    version: '1',
    inFlight: () => {
      read += 1;
      return 0;
    },
    counts: () => NO_COUNTS,
  });
  const [first, second] = await Promise.all([metrics.text(), metrics.text()]);
  expect(first).toBe(second);
  expect(read).toBe(1);
});
