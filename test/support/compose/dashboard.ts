import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DOCKER } from './prometheus-files.ts';

export const DASHBOARD = join(DOCKER, 'grafana/vedette.json');

export interface GridPosition {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: GridPosition;
  readonly datasource?: { readonly type: string; readonly uid: string };
  readonly targets?: readonly PanelTarget[];
}

export interface PanelTarget {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat: string;
  readonly datasource: { readonly type: string; readonly uid: string };
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly time: { readonly from: string; readonly to: string };
  readonly templating: {
    readonly list: readonly {
      readonly name: string;
      readonly type: string;
      readonly definition?: string;
    }[];
  };
  readonly panels: readonly Panel[];
}

export function readDashboard(): Dashboard {
  return JSON.parse(readFileSync(DASHBOARD, 'utf8'));
}

/** Replaces variables as Grafana does, for a graph of some hours. */
export function withoutVariables(
  expression: string,
  values: { readonly agent: string; readonly service: string } = { agent: '.*', service: '.*' },
): string {
  return expression
    .replaceAll('$__rate_interval', '1m')
    .replaceAll('$agent', values.agent)
    .replaceAll('$service', values.service);
}

/** Every expression with its panel, variables replaced. */
export function dashboardExpressions(
  values?: Parameters<typeof withoutVariables>[1],
): readonly { readonly title: string; readonly expr: string; readonly legend: string }[] {
  return readDashboard().panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat }) => ({
      title,
      expr: withoutVariables(expr, values),
      legend: legendFormat,
    })),
  );
}
