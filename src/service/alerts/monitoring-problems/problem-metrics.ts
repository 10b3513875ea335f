import { Gauge, type Registry } from 'prom-client';
import type { DiskSpace } from './disk-space.ts';

/** The source of the metrics at each scrape. */
interface Counts {
  readonly problems: {
    readonly open: Readonly<Record<string, number>>;
    readonly disk: DiskSpace | null;
  };
}

/** Adds the metrics of problems of monitoring itself. */
export function addProblemMetrics(registry: Registry, counts: () => Counts): void {
  const registers = [registry];
  new Gauge({
    name: 'vedette_service_monitoring_problems',
    help: 'Problems of monitoring itself that have not ended, of all accounts, by kind; the same in each replica, read every 15 s.',
    labelNames: ['kind'],
    registers,
    collect() {
      for (const [kind, count] of Object.entries(counts().problems.open)) this.set({ kind }, count);
    },
  });
  for (const [part, field] of [
    ['free', 'freeBytes'],
    ['size', 'sizeBytes'],
  ] as const) {
    new Gauge({
      name: `vedette_service_disk_${part}_bytes`,
      help: `The ${part === 'free' ? 'free bytes' : 'size'} of the disk of DATA_DIR, read every 15 s; missing without DATA_DIR.`,
      registers,
      collect() {
        const { disk } = counts().problems;
        if (disk !== null) this.set(disk[field]);
        else this.remove();
      },
    });
  }
}
