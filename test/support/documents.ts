import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

/**
 * Every document of the project by its path. Names of tables and commands are unique across
 * documents.
 */
export const DOCUMENTS = [
  'README.md',
  'docker/README.md',
  'docker/helm/vedette/README.md',
  'docker/release/README.md',
  'src/README.md',
  'src/service/users/README.md',
  'src/web/dashboard/README.md',
  'src/service/audit-log/README.md',
  'src/model/README.md',
  'src/scrub/README.md',
  'src/agent/README.md',
  'src/service/README.md',
  'src/service/private-locations/README.md',
  'src/service/results/statuses/README.md',
  'src/service/database/README.md',
  'src/service/events/README.md',
  'test/README.md',
  'test/bench/README.md',
] as const;

export function readDocument(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The commands of the program, with those of its subcommands. */
export function commandNames(): readonly string[] {
  const files = [
    'src/cli/program.ts',
    'src/cli/reading-commands.ts',
    'src/cli/run/run-options.ts',
    'src/cli/import/import-options.ts',
    'src/cli/apply/apply-options.ts',
    'src/cli/commands/service-options.ts',
    'src/cli/init/init-options.ts',
    'src/cli/trigger/trigger-options.ts',
  ];
  return files.flatMap((path) =>
    [...readDocument(path).matchAll(/command\(\s*'([\w-]+)/g)].map(([, name = '']) => name),
  );
}
