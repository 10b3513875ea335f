import { systemCodeOf } from '../../../../../src/runtime/errors.ts';
import type { FaultCase } from './cases.ts';
import type { Stage } from './stage.ts';

/**
 * How a failed call is reported:
 * - `failing`: by the state of the spool, and a log line with the system's code
 * - `damage`: by a log line for the damaged file, and the count of damaged files
 * - `left over`: by a log line for the remaining file
 * - `not noted`: by a log line for the manifest
 * - `no start`, `not read`, `not kept`, `not sent`: to the caller
 * - `nobody`: not reported, because it does not matter
 */
const REPORTS = [
  'failing',
  'damage',
  'left over',
  'not noted',
  'no start',
  'not read',
  'not kept',
  'not sent',
  'nobody',
] as const;
type Report = (typeof REPORTS)[number];

interface Rule {
  /** Below src. */
  readonly file: string;
  /** Matches the calls' names. */
  readonly calls: RegExp;
  /** At least one of these. */
  readonly reported: readonly Report[];
  /** Only for these codes; default all. */
  readonly codes?: readonly string[];
}

const FOR_GOOD = ['EIO', 'ENOENT'];

/** The first matching rule applies. */
const RULES: readonly Rule[] = [
  { file: 'runtime/files/file-system.ts', calls: /^close /, reported: ['nobody'] },
  { file: 'runtime/files/durable-folder.ts', calls: / artifacts$/, reported: ['not kept'] },
  { file: 'runtime/files/durable-folder.ts', calls: /./, reported: ['no start', 'not kept'] },
  { file: 'agent/spool/disk/spool-folder.ts', calls: /^sync /, reported: ['failing'] },
  { file: 'agent/spool/disk/damaged-files.ts', calls: /^unlink /, reported: ['nobody'] },
  { file: 'agent/spool/disk/spool-folder.ts', calls: /./, reported: ['no start'] },
  // A manifest may be missing: it only saves time.
  { file: 'agent/spool/disk/manifest.ts', calls: /./, reported: ['nobody'], codes: FOR_GOOD },
  { file: 'agent/spool/disk/manifest.ts', calls: /./, reported: ['no start', 'not read'] },
  { file: 'agent/spool/disk/manifest-writer.ts', calls: /./, reported: ['not noted'] },
  { file: 'agent/spool/disk/found-manifests.ts', calls: /^stat /, reported: ['nobody'] },
  { file: 'agent/spool/disk/recover.ts', calls: /^unlink .*manifest$/, reported: ['nobody'] },
  { file: 'agent/spool/disk/recover.ts', calls: /^(rename|unlink) /, reported: ['no start'] },
  { file: 'agent/spool/disk/scan-file.ts', calls: /^rename /, reported: ['no start'] },
  { file: 'agent/spool/disk/scan-file.ts', calls: /./, reported: ['damage'], codes: FOR_GOOD },
  { file: 'agent/spool/disk/scan-file.ts', calls: /./, reported: ['no start'] },
  {
    file: 'agent/spool/disk/read-entries.ts',
    calls: /^open /,
    reported: ['damage'],
    codes: FOR_GOOD,
  },
  // A second read, record by record, finds them.
  { file: 'agent/spool/disk/read-entries.ts', calls: /^read /, reported: ['damage', 'nobody'] },
  { file: 'agent/spool/disk/read-entries.ts', calls: /./, reported: ['not read'] },
  { file: 'agent/spool/disk/segment-log.ts', calls: /^(rename|unlink) /, reported: ['left over'] },
  { file: 'agent/spool/disk/segment-log.ts', calls: /^truncate /, reported: ['nobody'] },
  { file: 'agent/spool/disk/segment-log.ts', calls: /./, reported: ['failing'] },
  { file: 'agent/upload/artifact-files.ts', calls: /^readdir /, reported: ['no start'] },
  // At the start to list files, later for the size to send.
  { file: 'agent/upload/artifact-files.ts', calls: /^stat /, reported: ['no start', 'not sent'] },
  // Remains of an interrupted write, and files that the next start deletes.
  {
    file: 'agent/upload/artifact-files.ts',
    calls: /^unlink .*part$/,
    reported: ['no start', 'nobody'],
  },
  { file: 'agent/upload/artifact-files.ts', calls: /^unlink /, reported: ['nobody'] },
  { file: 'agent/upload/artifact-files.ts', calls: /./, reported: ['not kept'] },
  { file: 'agent/upload/artifact-outbox.ts', calls: /./, reported: ['not kept'] },
  { file: 'agent/service-client/file-pieces.ts', calls: / capture$/, reported: ['not kept'] },
  { file: 'agent/service-client/file-pieces.ts', calls: /./, reported: ['not sent'] },
];

/** The fault in the report of a failed call; null if it is correct. */
export function reportProblem({ call, fault }: FaultCase, stage: Stage): string | null {
  const code = fault.kind === 'fail' || fault.kind === 'stall' ? fault.code : null;
  if (code === null) return null;
  const rule = RULES.find(
    ({ file, calls, codes }) =>
      call.site?.startsWith(`${file}:`) === true &&
      calls.test(call.name) &&
      (codes?.includes(code) ?? true),
  );
  if (rule === undefined) return `no rule says how ${call.site} ${call.name} is reported`;
  const reported = reportsIn(stage, code);
  if (rule.reported.some((report) => report === 'nobody' || reported.has(report))) return null;
  return `${rule.reported.join(' or ')} should be reported, but reported is ${[...reported].join(', ')}`;
}

function reportsIn({ reported, logs }: Stage, code: string): ReadonlySet<Report> {
  const lines = logs.flatMap((each) => each.records());
  const says = (level: string, text: string): boolean =>
    lines.some((line) => line.level === level && String(line.msg).includes(text));
  const isSaid: Readonly<Record<Report, boolean>> = {
    failing:
      reported.has('failing') &&
      lines.some(
        (line) =>
          String(line.msg).includes('the spool in DATA_DIR cannot be written') &&
          systemCodeOf(line),
      ),
    damage: says('error', 'the spool is damaged'),
    'left over': lines.some(
      (line) => String(line.msg).includes('cannot be deleted') && systemCodeOf(line) === code,
    ),
    'not noted': lines.some(
      (line) =>
        String(line.msg).includes('a manifest of the spool cannot be written') &&
        systemCodeOf(line) === code,
    ),
    'no start': reported.has('open DATA_DIR_UNUSABLE'),
    'not read': reported.has('batch SPOOL_UNREADABLE'),
    'not kept': reported.has('artifact refused'),
    'not sent': reported.has('artifact unreadable'),
    nobody: true,
  };
  return new Set(REPORTS.filter((report) => isSaid[report]));
}
