import { loadSequentially } from '../runtime/load-sequentially.ts';
import type { VariableRow } from './help-text.ts';

type Rows = readonly VariableRow[];

const variablesOfReading = async (): Promise<Rows> => {
  loadSequentially(import.meta.url, './service-api/connection.js');
  return (await import('./service-api/connection.ts')).READ_ENVIRONMENT;
};

/** Loads the variables of each command. */
const VARIABLES = {
  run: async () => {
    loadSequentially(import.meta.url, '../agent/config/agent-config.js');
    return (await import('../agent/config/agent-config.ts')).ENVIRONMENT_OF.run;
  },
  report: async () => {
    loadSequentially(import.meta.url, './service-api/connection.js');
    return (await import('./service-api/connection.ts')).REPORT_ENVIRONMENT;
  },
  agent: async () => {
    loadSequentially(import.meta.url, '../agent/config/agent-config.js');
    return (await import('../agent/config/agent-config.ts')).ENVIRONMENT_OF.agent;
  },
  service: async () => {
    loadSequentially(import.meta.url, '../service/config.js');
    return (await import('../service/config.ts')).SERVICE_ENVIRONMENT;
  },
  migrate: async () => {
    loadSequentially(import.meta.url, '../service/config.js');
    return (await import('../service/config.ts')).MAINTENANCE_ENVIRONMENT.migrate;
  },
  decrypt: async () => {
    loadSequentially(import.meta.url, '../service/config.js');
    return (await import('../service/config.ts')).MAINTENANCE_ENVIRONMENT.decrypt;
  },
  account: async () => {
    loadSequentially(import.meta.url, '../service/config.js');
    return (await import('../service/config.ts')).MAINTENANCE_ENVIRONMENT.account;
  },
  accountRemoval: async () => {
    loadSequentially(import.meta.url, '../service/config.js');
    return (await import('../service/config.ts')).MAINTENANCE_ENVIRONMENT.accountRemoval;
  },
  user: async () => {
    loadSequentially(import.meta.url, '../service/config.js');
    return (await import('../service/config.ts')).MAINTENANCE_ENVIRONMENT.user;
  },
  up: async () => {
    loadSequentially(import.meta.url, './up/environment.js');
    return (await import('./up/environment.ts')).UP_ENVIRONMENT;
  },
  init: async () => {
    loadSequentially(import.meta.url, './init/environment.js');
    return (await import('./init/environment.ts')).INIT_ENVIRONMENT;
  },
  apply: async () => {
    loadSequentially(import.meta.url, './service-api/connection.js');
    return (await import('./service-api/connection.ts')).APPLY_ENVIRONMENT;
  },
  trigger: async () => {
    loadSequentially(import.meta.url, './service-api/connection.js');
    return (await import('./service-api/connection.ts')).TRIGGER_ENVIRONMENT;
  },
  location: async () => {
    loadSequentially(import.meta.url, './service-api/connection.js');
    return (await import('./service-api/connection.ts')).LOCATION_ENVIRONMENT;
  },
  status: variablesOfReading,
  history: variablesOfReading,
  explain: variablesOfReading,
} as const satisfies Readonly<Record<string, () => Promise<Rows>>>;

export type VariablesOf = Readonly<Record<keyof typeof VARIABLES, Rows>>;

/** Groups of variables that a command reads only with an option or in a subcommand. */
const WITHIN: Readonly<Record<string, string>> = { report: 'run', accountRemoval: 'account' };

/** Loads the variables for the help of the given command, which reads them anyway when it runs. */
export async function variablesFor(args: readonly string[]): Promise<VariablesOf> {
  const rows = Object.entries(VARIABLES).map(async ([name, load]) => {
    const isNamed = args.includes(WITHIN[name] ?? name);
    return [name, isNamed ? await load() : []];
  });
  return Object.fromEntries(await Promise.all(rows)) as VariablesOf;
}
