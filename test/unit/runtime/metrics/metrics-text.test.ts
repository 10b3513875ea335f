import { Gauge, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { labelsText, metricText } from '../../../../src/runtime/metrics/exposition.ts';
import {
  sharedExposition,
  sharedMetricsText,
} from '../../../../src/runtime/metrics/metrics-text.ts';
import { createServiceMetrics, NO_COUNTS } from '../../../../src/service/http/metrics.ts';

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

it('renders further metrics after those of the registry', async () => {
  const registry = new Registry();
  new Gauge({ name: 'one', help: 'One.', registers: [registry] }).set(1);
  const other = { name: 'other', type: 'gauge', meaning: 'Another.' };
  const labels = labelsText({ name: 'a "quoted"\n\\' });
  const text = `${metricText(other, [`other{${labels}} 2`])}\n`;
  const further = { render: async () => [Buffer.from(text)] };
  const pieces = await sharedExposition(registry, further)();
  expect(Buffer.concat(pieces).toString()).toBe(
    `# HELP one One.\n# TYPE one gauge\none 1\n\n# HELP other Another.\n# TYPE other gauge\nother{name="a \\"quoted\\"\\n\\\\"} 2\n`,
  );
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
