import { VedetteError } from '../../runtime/errors.ts';
import { importBlackbox } from './blackbox/import-blackbox.ts';
import { importProbeModules } from './blackbox/probe-modules.ts';
import { Draft } from './common/draft.ts';
import type { SourceFile } from './common/source-file.ts';
import { type FileKind, isOfFormat, kindOf } from './file-kind.ts';
import { importGatus } from './gatus/import-gatus.ts';
import type { ImportFormat } from './import-formats.ts';
import { importUptimeKuma } from './uptime-kuma/import-uptime-kuma.ts';

const UNKNOWN =
  'is none of the files that can be imported: modules of blackbox_exporter, scrape jobs of Prometheus, a configuration of Gatus, a backup of Uptime Kuma, or targets for file_sd';

export interface ImportRules {
  /** The format that all files must have; null to detect it. */
  readonly format: ImportFormat | null;
  /** Whether modules of the exporter become checks for probes, instead of their targets. */
  readonly probeModules: boolean;
}

/**
 * Imports all files into one draft.
 *
 * @throws VedetteError of kind `input` if a file has an unknown format, or not the required one
 */
export function importFiles(
  files: readonly SourceFile[],
  { format, probeModules }: ImportRules,
): Draft {
  const draft = new Draft();
  for (const { value } of files) draft.variables.reserveNamesIn(value);
  const byKind = new Map<FileKind, SourceFile[]>();
  for (const file of files) {
    const kind = kindOf(file);
    if (kind === null) throw new VedetteError('input', 'IMPORT_UNKNOWN', `${file.name} ${UNKNOWN}`);
    if (format !== null && !isOfFormat(kind, format)) {
      const message = `${file.name} is not of the format ${format} (--from); it looks like ${kind}`;
      throw new VedetteError('input', 'IMPORT_OTHER_FORMAT', message);
    }
    byKind.set(kind, [...(byKind.get(kind) ?? []), file]);
  }
  const of = (kind: FileKind): readonly SourceFile[] => byKind.get(kind) ?? [];
  const blackbox = {
    modules: of('modules'),
    scrapeJobs: of('scrape-jobs'),
    targets: of('file-sd'),
  };
  if (probeModules) importProbeModules(blackbox, draft);
  else if (Object.values(blackbox).some((list) => list.length > 0)) importBlackbox(blackbox, draft);
  for (const file of of('gatus')) importGatus(file, draft);
  for (const file of of('uptime-kuma')) importUptimeKuma(file, draft);
  return draft;
}
