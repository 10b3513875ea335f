import { systemCodeOf } from '../../../../../src/runtime/errors.ts';
import type { FaultCase } from './spool-cases.ts';
import type { Stage } from './spool-stage.ts';

/**
 * How a call that fails is told of.
 * - `failing`: by the state of the spool, and a line with the system's code
 * - `damage`: by a line for the damaged file, and the count of those
 * - `left over`: by a line for the file that stays
 * - `not noted`: by a line for the manifest
 * - `no start`, `not read`, `not kept`, `not sent`: to the one who asked
 * - `nobody`: it does not matter
 */
const TELLINGS = [
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
type Telling = (typeof TELLINGS)[number];

interface Rule {
  /** In the product. */
  readonly file: string;
  /** Of the calls' names. */
  readonly calls: RegExp;
  /** One of these. */
  readonly told: readonly Telling[];
  /** Only for these codes; all where left out. */
  readonly codes?: readonly string[];
}

const FOR_GOOD = ['EIO', 'ENOENT'];

/** The first that fits holds. */
const RULES: readonly Rule[] = [
  { file: 'spool/disk/disk.ts', calls: /^close /, told: ['nobody'] },
  { file: 'spool/disk/durable-folder.ts', calls: / artifacts$/, told: ['not kept'] },
  { file: 'spool/disk/durable-folder.ts', calls: /./, told: ['no start', 'not kept'] },
  { file: 'spool/disk/spool-folder.ts', calls: /^sync /, told: ['failing'] },
  { file: 'spool/disk/spool-folder.ts', calls: /^unlink damaged/, told: ['nobody'] },
  { file: 'spool/disk/spool-folder.ts', calls: /./, told: ['no start'] },
  // All that is noted of a file may be missing, and where it is not needed, it is.
  { file: 'spool/disk/manifest.ts', calls: /./, told: ['nobody'], codes: FOR_GOOD },
  { file: 'spool/disk/manifest.ts', calls: /./, told: ['no start', 'not read'] },
  { file: 'spool/disk/manifest-writer.ts', calls: /./, told: ['not noted'] },
  { file: 'spool/disk/recover.ts', calls: /^(stat|unlink) .*manifest$/, told: ['nobody'] },
  { file: 'spool/disk/recover.ts', calls: /^(rename|unlink) /, told: ['no start'] },
  { file: 'spool/disk/recover.ts', calls: /./, told: ['damage'], codes: FOR_GOOD },
  { file: 'spool/disk/recover.ts', calls: /./, told: ['no start'] },
  { file: 'spool/disk/read-entries.ts', calls: /^open /, told: ['damage'], codes: FOR_GOOD },
  // Records that are read once more, each by itself, are there.
  { file: 'spool/disk/read-entries.ts', calls: /^read /, told: ['damage', 'nobody'] },
  { file: 'spool/disk/read-entries.ts', calls: /./, told: ['not read'] },
  { file: 'spool/disk/segment-log.ts', calls: /^(rename|unlink) /, told: ['left over'] },
  { file: 'spool/disk/segment-log.ts', calls: /^truncate /, told: ['nobody'] },
  { file: 'spool/disk/segment-log.ts', calls: /./, told: ['failing'] },
  { file: 'upload/artifact-files.ts', calls: /^readdir /, told: ['no start'] },
  // At the start; later it is asked for its size, to be sent.
  { file: 'upload/artifact-files.ts', calls: /^stat /, told: ['no start', 'not sent'] },
  // What is left of a write that was cut short; those that are done with are found at the next start.
  { file: 'upload/artifact-files.ts', calls: /^unlink .*part$/, told: ['no start', 'nobody'] },
  { file: 'upload/artifact-files.ts', calls: /^unlink /, told: ['nobody'] },
  { file: 'upload/artifact-files.ts', calls: /./, told: ['not kept'] },
  { file: 'upload/artifact-outbox.ts', calls: /./, told: ['not kept'] },
  { file: 'upload/file-pieces.ts', calls: / capture$/, told: ['not kept'] },
  { file: 'upload/file-pieces.ts', calls: /./, told: ['not sent'] },
];

/** What is wrong with how the fault was told of; null where nothing is. */
export function tellingProblem({ call, fault }: FaultCase, stage: Stage): string | null {
  const code = fault.kind === 'fail' || fault.kind === 'stall' ? fault.code : null;
  if (code === null) return null;
  const rule = RULES.find(
    ({ file, calls, codes }) =>
      call.site?.startsWith(`${file}:`) === true &&
      calls.test(call.name) &&
      (codes?.includes(code) ?? true),
  );
  if (rule === undefined) return `nobody knows how ${call.site} ${call.name} is told`;
  const told = toldIn(stage, code);
  if (rule.told.some((telling) => telling === 'nobody' || told.has(telling))) return null;
  return `${rule.told.join(' or ')} should be told, and what is is ${[...told].join(', ')}`;
}

function toldIn({ told, logs }: Stage, code: string): ReadonlySet<Telling> {
  const lines = logs.flatMap((each) => each.records());
  const says = (level: string, text: string): boolean =>
    lines.some((line) => line.level === level && String(line.msg).includes(text));
  const isSaid: Readonly<Record<Telling, boolean>> = {
    failing:
      told.has('failing') &&
      lines.some((line) => String(line.msg).includes('cannot be written') && systemCodeOf(line)),
    damage: says('error', 'the spool is damaged'),
    'left over': lines.some(
      (line) => String(line.msg).includes('cannot be taken away') && systemCodeOf(line) === code,
    ),
    'not noted': lines.some(
      (line) => String(line.msg).includes('cannot be noted') && systemCodeOf(line) === code,
    ),
    'no start': told.has('open DATA_DIR_UNUSABLE'),
    'not read': told.has('batch SPOOL_UNREADABLE'),
    'not kept': told.has('artifact refused'),
    'not sent': told.has('artifact unreadable'),
    nobody: true,
  };
  return new Set(TELLINGS.filter((telling) => isSaid[telling]));
}
