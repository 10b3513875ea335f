/** The orders of a list of statuses: by a field ascending or, with `-`, descending. */
export const STATUS_ORDERS = [
  'state',
  'name',
  '-name',
  'since',
  '-since',
  'lastRunAt',
  '-lastRunAt',
  'lastResponseTime',
  '-lastResponseTime',
  'sslDaysRemaining',
  '-sslDaysRemaining',
] as const;
export type StatusOrder = (typeof STATUS_ORDERS)[number];
