import {
  type AccountContents,
  MAX_COUNTED_RESULTS,
  type RemovedCounts,
} from '../../service/account-removal/remove-account.ts';
import type { RemovedAccount } from '../../service/operator/account-commands.ts';
import { terminalSafe } from '../print/terminal-safe.ts';

const MAX_NAME_CHARS = 255;
const MIB = 1024 * 1024;

/** Describes what will be deleted. Ends with a line feed. */
export function removalText(account: RemovedAccount, contents: AccountContents): string {
  const { checks, users, locations, keys, channels, statusPages } = contents;
  const { results, artifacts, artifactBytes } = contents;
  const more = results >= MAX_COUNTED_RESULTS ? ' or more' : '';
  const parts = [
    amount(checks, 'check'),
    amount(users, 'user'),
    amount(locations, 'location'),
    amount(keys, 'key'),
    amount(channels, 'alert channel'),
    amount(statusPages, 'status page'),
    `${amount(results, 'result')}${more}`,
    `${amount(artifacts, 'artifact')} (${(artifactBytes / MIB).toFixed(1)} MiB)`,
  ];
  return [
    `The account ${nameAndId(account)} has ${listed(parts)}.`,
    'All of it will be deleted, including its history, and cannot be restored. Users who belong to no other account are also deleted.',
    '',
  ].join('\n');
}

/** `12 checks, 3 users and 5 other rows`; `nothing` for none. */
export function countsText(removed: RemovedCounts): string {
  const parts = [...removed].map(([noun, count]) => amount(count, noun));
  return parts.length === 0 ? 'nothing' : listed(parts);
}

/** `Shop team (5f0c…)`, for one line. */
export function nameAndId({ id, name }: RemovedAccount): string {
  return `${terminalSafe(name, MAX_NAME_CHARS)} (${terminalSafe(id)})`;
}

/** `1 check`, `50,000,000 results` */
function amount(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}

function listed(parts: readonly string[]): string {
  const last = parts.at(-1) ?? '';
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`;
}
