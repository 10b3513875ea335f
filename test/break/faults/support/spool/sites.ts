import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type FileSystem,
  type OpenFile,
  systemFiles,
} from '../../../../../src/runtime/files/file-system.ts';

const SRC = join(import.meta.dirname, '../../../../../src');
const PORT = 'runtime/files/file-system.ts';

const OF_FILES: Readonly<Record<Exclude<keyof OpenFile, 'fd'>, true>> = {
  read: true,
  write: true,
  datasync: true,
  sync: true,
  truncate: true,
  stat: true,
  close: true,
};
const OF_DISK = Object.keys(systemFiles) as (keyof FileSystem)[];

/** By the calls' names in a recording. */
export const PORT_METHODS: readonly string[] = [
  ...OF_DISK,
  ...Object.keys(OF_FILES).map((method) => (method === 'stat' ? 'file stat' : method)),
].sort(byText);

const CALL = new RegExp(
  `\\b(?:disk|file|handle|held)\\??\\.(?:${[...OF_DISK, ...Object.keys(OF_FILES)].join('|')})\\(|await (?:readFully|writeFully)\\(`,
);
/** Within readFully and writeFully, which count for their callers. */
const SHARED_CALL = /await file\.(?:read|write)\(/;

const SOURCES: readonly string[] = [
  PORT,
  'runtime/files/durable-folder.ts',
  ...readdirSync(join(SRC, 'agent/spool'), { encoding: 'utf8', recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `agent/spool/${name}`),
  'agent/upload/artifact-files.ts',
  'agent/upload/artifact-outbox.ts',
  'agent/service-client/file-pieces.ts',
];

/** The product's lines that call the port: `agent/spool/disk/recover.ts:87`. */
export function callSites(): readonly string[] {
  return SOURCES.flatMap((source) =>
    linesOf(source).flatMap((line, index) =>
      CALL.test(line) && !SHARED_CALL.test(line) ? [`${source}:${index + 1}`] : [],
    ),
  ).sort(byText);
}

export function byText(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** Lines that bypass the port. */
export function otherDoors(): readonly string[] {
  return SOURCES.filter(
    (source) => source !== PORT && linesOf(source).some((line) => /'node:fs/.test(line)),
  );
}

function linesOf(source: string): readonly string[] {
  return readFileSync(join(SRC, source), 'utf8').split('\n');
}
