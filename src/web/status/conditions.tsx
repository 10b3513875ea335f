import type { VNode } from 'preact';
import type { ServiceCondition } from '../../model/incident/status-page-incident.ts';

/** The condition is also the class that sets its colours: see style.ts. */
export const CONDITION_WORDS: Readonly<Record<ServiceCondition, string>> = {
  OPERATIONAL: 'Operational',
  UNKNOWN: 'No data',
  MAINTENANCE: 'Maintenance',
  DEGRADED: 'Degraded',
  PARTIAL_OUTAGE: 'Partial outage',
  MAJOR_OUTAGE: 'Major outage',
};

const RING = <circle cx="8" cy="8" r="7" fill="none" stroke="currentColor" stroke-width="1.6" />;
const LINE = {
  fill: 'none',
  stroke: 'currentColor',
  'stroke-width': '1.8',
  'stroke-linecap': 'round',
  'stroke-linejoin': 'round',
} as const;
/** A line on a filled shape. */
const CUT = { ...LINE, stroke: 'var(--card)' } as const;

/** Each condition has a different shape. */
const SHAPES: Readonly<Record<ServiceCondition, VNode>> = {
  OPERATIONAL: (
    <>
      {RING}
      <path d="M5 8.2l2.1 2.1 4-4.4" {...LINE} />
    </>
  ),
  UNKNOWN: (
    <>
      <circle {...LINE} cx="8" cy="8" r="7" stroke-dasharray="2.6 2.8" />
      <path d="M5.5 8h5" {...LINE} />
    </>
  ),
  MAINTENANCE: (
    <>
      {RING}
      <path d="M6 5.4v5.2M10 5.4v5.2" {...LINE} />
    </>
  ),
  DEGRADED: (
    <>
      <path
        d="M8 1.6l6.8 12.2H1.2z"
        fill="currentColor"
        stroke="currentColor"
        stroke-linejoin="round"
      />
      <path d="M8 6v3.6M8 11.6v.1" {...CUT} />
    </>
  ),
  PARTIAL_OUTAGE: (
    <>
      {RING}
      <path d="M8 1a7 7 0 0 1 0 14z" fill="currentColor" />
    </>
  ),
  MAJOR_OUTAGE: (
    <>
      <circle cx="8" cy="8" r="7.6" fill="currentColor" />
      <path d="M5.4 5.4l5.2 5.2M10.6 5.4l-5.2 5.2" {...CUT} />
    </>
  ),
};

/** Icon of the browser tab: a shape and one colour for light and dark tabs. */
const TAB_ICONS: Readonly<Record<ServiceCondition, readonly [string, string]>> = {
  OPERATIONAL: ['%232e9e63', "circle cx='8' cy='8' r='7'"],
  UNKNOWN: ['%23808a94', "circle cx='8' cy='8' r='5'"],
  MAINTENANCE: ['%234f82d1', "rect x='2' y='2' width='12' height='12' rx='3'"],
  DEGRADED: ['%23d99a1c', "path d='M8 1l7.5 13.5H.5z'"],
  PARTIAL_OUTAGE: ['%23e07b3c', "path d='M8 1l7.5 13.5H.5z'"],
  MAJOR_OUTAGE: ['%23d94a4a', "path d='M5 1h6l4 4v6l-4 4H5l-4-4V5z'"],
};

/** A URL that contains the icon: without one, browsers ask the host for /favicon.ico. */
export function stateIcon(condition: ServiceCondition): string {
  const [color, shape] = TAB_ICONS[condition];
  return `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3C${shape} fill='${color}'/%3E%3C/svg%3E`;
}

/** To be used only beside a word. */
export function ConditionIcon({ condition }: { readonly condition: ServiceCondition }): VNode {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true">
      {SHAPES[condition]}
    </svg>
  );
}

/** A condition by shape, word and colour. */
export function ConditionLabel({ condition }: { readonly condition: ServiceCondition }): VNode {
  return (
    <span class={`state ${condition}`}>
      <ConditionIcon condition={condition} />
      {CONDITION_WORDS[condition]}
    </span>
  );
}
