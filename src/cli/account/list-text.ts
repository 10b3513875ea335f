import type { AccountOverview } from '../../service/accounts/overviews.ts';
import { terminalSafe } from '../print/terminal-safe.ts';

const MAX_NAME_CHARS = 255;
const MAX_COLUMN_CHARS = 40;
const NONE = '-';

interface Column {
  readonly heading: string;
  readonly isNumber: boolean;
  readonly text: (account: AccountOverview) => string;
}

const COLUMNS: readonly Column[] = [
  { heading: 'ID', isNumber: false, text: ({ id }) => terminalSafe(id) },
  { heading: 'NAME', isNumber: false, text: ({ name }) => terminalSafe(name, MAX_COLUMN_CHARS) },
  { heading: 'CHECKS', isNumber: true, text: ({ checks }) => String(checks) },
  { heading: 'USERS', isNumber: true, text: ({ users }) => String(users) },
  { heading: 'LOCATIONS', isNumber: true, text: ({ locations }) => String(locations) },
  { heading: 'KEYS', isNumber: true, text: ({ keys }) => String(keys) },
  {
    heading: 'LAST RESULT (UTC)',
    isNumber: false,
    text: ({ lastResultAt }) => (lastResultAt === null ? NONE : toTheMinute(lastResultAt)),
  },
  { heading: 'CREATED (UTC)', isNumber: false, text: ({ createdAt }) => toTheMinute(createdAt) },
];

/** `2026-01-31 08:39` */
function toTheMinute(instant: Date): string {
  return instant.toISOString().slice(0, 16).replace('T', ' ');
}

/**
 * Formats accounts as a table for a terminal, page by page. The first page has the heading. Columns only
 * become wider.
 */
export class AccountTable {
  #widths: readonly number[] = COLUMNS.map(({ heading }) => heading.length);
  #hasHeading: boolean = false;

  /** Ends with a line feed. */
  page(accounts: readonly AccountOverview[]): string {
    const rows = accounts.map((account) => COLUMNS.map(({ text }) => text(account)));
    this.#widths = this.#widths.map((width, index) =>
      Math.max(width, ...rows.map((row) => row[index]?.length ?? 0)),
    );
    const heading = this.#hasHeading ? [] : [COLUMNS.map((column) => column.heading)];
    this.#hasHeading = true;
    return [...heading, ...rows].map((row) => `${this.#line(row)}\n`).join('');
  }

  #line(row: readonly string[]): string {
    const cells = row.map((text, index) => {
      const width = this.#widths[index] ?? 0;
      return COLUMNS[index]?.isNumber === true ? text.padStart(width) : text.padEnd(width);
    });
    return cells.join('  ').trimEnd();
  }
}

/**
 * Formats accounts for programs: one line each, with tabs between id, name, checks, users, locations, keys,
 * last result and creation. Times are ISO 8601 in UTC; `-` means none.
 */
export function accountLines(accounts: readonly AccountOverview[]): string {
  return accounts
    .map((account) => {
      const { id, name, checks, users, locations, keys, lastResultAt, createdAt } = account;
      const last = lastResultAt?.toISOString() ?? NONE;
      const counts = [checks, users, locations, keys];
      const texts = [terminalSafe(id), terminalSafe(name, MAX_NAME_CHARS)];
      return `${[...texts, ...counts, last, createdAt.toISOString()].join('\t')}\n`;
    })
    .join('');
}
