import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DOCKER } from './prometheus-files.ts';

/** The files in docker/grafana without `.json`: one about Vedette itself, one about checks. */
export const DASHBOARDS = ['vedette', 'checks'] as const;
export type DashboardName = (typeof DASHBOARDS)[number];

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

export function readDashboard(name: DashboardName): Dashboard {
  return JSON.parse(readFileSync(join(DOCKER, `grafana/${name}.json`), 'utf8'));
}

/** Values of the variables of both dashboards; all by default. */
export type VariableValues = Readonly<
  Partial<Record<'agent' | 'service' | 'location' | 'check' | 'tag', string>>
>;

/** Replaces variables as Grafana does, for a graph of some hours. */
export function withoutVariables(expression: string, values: VariableValues = {}): string {
  return expression
    .replaceAll('$__rate_interval', '1m')
    .replaceAll(
      /\$(agent|service|location|check|tag)\b/g,
      (_, name: keyof VariableValues) => values[name] ?? '.*',
    );
}

/** Every expression with its panel, variables replaced. */
export function dashboardExpressions(
  name: DashboardName,
  values?: VariableValues,
): readonly { readonly title: string; readonly expr: string; readonly legend: string }[] {
  return readDashboard(name).panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat }) => ({
      title,
      expr: withoutVariables(expr, values),
      legend: legendFormat,
    })),
  );
}
