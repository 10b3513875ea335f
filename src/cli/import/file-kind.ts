import { isMapping } from '../../agent/source/common/raw-mapping.ts';
import type { SourceFile } from './common/source-file.ts';
import { GATUS_SETTINGS } from './gatus/import-gatus.ts';
import type { ImportFormat } from './import-formats.ts';

/** The kind of a file. */
export type FileKind = 'modules' | 'scrape-jobs' | Exclude<ImportFormat, 'blackbox'>;

/** @returns null for a file of no known format */
export function kindOf({ value }: SourceFile): FileKind | null {
  if (Array.isArray(value)) return value.some(isTargetGroup) ? 'file-sd' : null;
  if (!isMapping(value)) return null;
  if (Array.isArray(value.monitorList)) return 'uptime-kuma';
  if (isMapping(value.modules)) return 'modules';
  if (Array.isArray(value.scrape_configs)) return 'scrape-jobs';
  const isGatus = ['endpoints', 'external-endpoints', 'suites'].some((key) =>
    Array.isArray(value[key]),
  );
  const keys = Object.keys(value);
  const isRestOfGatus = keys.length > 0 && keys.every((key) => GATUS_SETTINGS.has(key));
  return isGatus || isRestOfGatus ? 'gatus' : null;
}

/** Whether a file can be read as the format that the user named. */
export function isOfFormat(kind: FileKind, format: ImportFormat): boolean {
  if (format !== 'blackbox') return kind === format;
  return kind === 'modules' || kind === 'scrape-jobs' || kind === 'file-sd';
}

function isTargetGroup(item: unknown): boolean {
  return isMapping(item) && Array.isArray(item.targets);
}
