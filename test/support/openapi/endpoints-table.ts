import { operationsOf } from './document.ts';
import { serviceDocument } from './service-document.ts';

/** Every endpoint of the API by its resource, as the README lists them. */
export async function endpointsTable(): Promise<string> {
  const operations = operationsOf(await serviceDocument()).filter(({ role }) => role !== null);
  const rows = operations.map(
    ({ tags = [], name, role, summary = '' }) =>
      `| ${tags[0] ?? ''} | \`${name}\` | ${role ?? ''} | ${summary} |`,
  );
  return [
    '| Resource | Endpoint | Role | What it does |',
    '| --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}
