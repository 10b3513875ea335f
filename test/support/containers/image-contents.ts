import { readDocument } from '../documents.ts';

const HEADING = "### Contents of the agent's image\n";
const MEGABYTE = 1_000_000;

/** The agent's image as docker/README.md lists it. */
export interface ImageContents {
  /** How much each part may take, in bytes. */
  readonly maxBytes: {
    readonly node: number;
    readonly debian: number;
    readonly npm: number;
    readonly vedette: number;
  };
  /** Names of packages, with those that they bring. */
  readonly debian: ReadonlySet<string>;
  readonly npm: ReadonlySet<string>;
}

/** @throws Error where the section lacks a table or a part of it */
export function agentImageContents(): ImageContents {
  const text = readDocument('docker/README.md');
  const start = text.indexOf(HEADING) + HEADING.length;
  const section = text.slice(start, text.indexOf('\n## ', start));
  const parts = rowsOf(section, 'Part');
  const bytesOf = (name: string): number => {
    const [, megabytes = ''] = parts.find(([part]) => part === name) ?? [];
    if (!/^\d+$/.test(megabytes)) throw new Error(`docker/README.md tells no size of: ${name}`);
    return Number(megabytes) * MEGABYTE;
  };
  return {
    maxBytes: {
      node: bytesOf('Node'),
      debian: bytesOf('Debian packages'),
      npm: bytesOf('npm packages'),
      vedette: bytesOf('Vedette'),
    },
    debian: namesIn(rowsOf(section, 'Debian package')),
    npm: namesIn(rowsOf(section, 'npm package')),
  };
}

/** The cells of each row of the table whose first column has this heading. */
function rowsOf(section: string, heading: string): readonly (readonly string[])[] {
  const table = section.split('\n\n').find((block) => block.startsWith(`| ${heading} |`));
  if (table === undefined) throw new Error(`docker/README.md has no table: ${heading}`);
  const rows = table.trim().split('\n').slice(2);
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** In backticks: a package in the first cell, and what it brings in the second. */
function namesIn(rows: readonly (readonly string[])[]): ReadonlySet<string> {
  const cells = rows.flatMap(([name = '', brings = '']) => [name, brings]);
  return new Set(
    cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)),
  );
}
