import { operationsOf } from './document.ts';
import { serviceDocument } from './service-document.ts';

/** Every endpoint of the API by its resource, as the README lists them. */
export async function endpointsTable(): Promise<string> {
  const operations = operationsOf(await serviceDocument()).filter(
    ({ role, path }) => role !== null || path.startsWith('/v1/'),
  );
  const rows = operations.map(
    ({ tags = [], name, role, isForUsers, summary = '' }) =>
      `| ${tags[0] ?? ''} | \`${name}\` | ${role ?? (isForUsers ? 'signed in' : 'none')} | ${summary} |`,
  );
  return [
    '| Resource | Endpoint | Role | What it does |',
    '| --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}
