import { basename, dirname, resolve } from 'node:path';
import type { RawMapping } from '../../../agent/source/common/raw-mapping.ts';
import { MINUTE_MS, SECOND_MS } from '../../../model/time-units.ts';
import type { Draft } from '../common/draft.ts';
import { isUnset, listOf, mappingOf, type Reason, textOf, textsOf } from '../common/fields.ts';
import { shownTarget } from '../common/import-variables.ts';
import { patternFromGlob } from '../common/patterns.ts';
import { durationMs } from '../common/periods.ts';
import { below, type Origin, type SourceFile } from '../common/source-file.ts';
import { type Labels, type RelabelStep, relabelStep } from './relabel.ts';
import { guessedProbe, type ModuleList, type Target, tagsOf, targetsIn } from './targets.ts';

/** Prometheus' own default. */
const DEFAULT_TIMEOUT_MS = 10 * SECOND_MS;
/** The exporter answers this long before the timeout of Prometheus. */
const TIMEOUT_OFFSET_MS = 500;

export interface JobsContext {
  readonly modules: ModuleList;
  readonly draft: Draft;
  /** Receives the targets of modules instead of creating checks. */
  readonly onModuleTarget?: (target: ModuleTarget) => void;
  /** Files of targets that the user gave. */
  readonly targetFiles: readonly SourceFile[];
  /** Receives the files that a job names. */
  readonly used: Set<SourceFile>;
}

/** A target that a job probes with a module. */
export interface ModuleTarget {
  readonly module: string;
  readonly target: string;
  /** Whether the job sends the parameter `hostname`. */
  readonly hasHostname: boolean;
  /** The scrape job in its file. */
  readonly origin: Origin;
}

/** Parts of the configuration besides its jobs. */
const PARTS: Readonly<Record<string, Reason>> = {
  scrape_config_files: [
    'the jobs of other files are not read',
    'give these files on the command line, too',
  ],
  rule_files: [
    'alert rules stay in Prometheus',
    'for alerts of the service add alertChannels to the file',
  ],
  alerting: [
    'the Alertmanager stays that of Prometheus',
    'for alerts of the service add alertChannels to the file',
  ],
};
const EXTERNAL_LABELS: Reason = [
  'Prometheus adds these labels to all that it sends',
  'for the same in results add tags to the defaults of the file',
];

/** Creates checks for the targets of all jobs that probe through the exporter. */
export function importScrapeJobs(file: SourceFile, context: JobsContext): void {
  const { scrape_configs, global, ...others } = mappingOf(file.value);
  // If Prometheus continues to scrape the targets, the rest of its configuration stays in use.
  if (context.onModuleTarget === undefined) reportParts(mappingOf(global), others, file, context);
  for (const [index, raw] of listOf(scrape_configs).entries()) {
    const origin = { file, path: ['scrape_configs', index] };
    importJob(mappingOf(raw), mappingOf(global), origin, context);
  }
}

function reportParts(
  global: RawMapping,
  others: RawMapping,
  file: SourceFile,
  { draft: { report } }: JobsContext,
): void {
  const whole: Origin = { file, path: [] };
  const note = (origin: Origin, [what, advice]: Reason): void =>
    report.note(origin, `${what}; ${advice}`);
  if (!isUnset(global.external_labels)) {
    note(below(whole, 'global', 'external_labels'), EXTERNAL_LABELS);
  }
  for (const [key, value] of Object.entries(others)) {
    const reason = Object.hasOwn(PARTS, key) ? PARTS[key] : undefined;
    if (isUnset(value)) continue;
    if (reason === undefined) report.note(below(whole, key), 'a setting of Prometheus itself');
    else if (key === 'scrape_config_files') report.leftOut(below(whole, key), ...reason);
    else note(below(whole, key), reason);
  }
}

function importJob(
  job: RawMapping,
  global: RawMapping,
  origin: Origin,
  context: JobsContext,
): void {
  const { draft } = context;
  if (!isProbing(job)) {
    draft.report.note(origin, 'the job does not use the exporter: what it scrapes is not a check');
    return;
  }
  const name = textOf(job.job_name) ?? '';
  const timing = {
    periodMs: durationMs(job.scrape_interval) ?? durationMs(global.scrape_interval) ?? MINUTE_MS,
    scrapeTimeoutMs:
      durationMs(job.scrape_timeout) ?? durationMs(global.scrape_timeout) ?? DEFAULT_TIMEOUT_MS,
  };
  const steps = relabelSteps(job, origin, draft);
  const targets = [
    ...targetsIn(job.static_configs, below(origin, 'static_configs')),
    ...targetsOfFiles(job, origin, context),
  ];
  reportDiscovery(job, origin, draft);
  for (const target of targets) {
    const labels = relabelled(startLabels(job, name, target), steps);
    if (labels !== null) addTarget(target, labels, { name, origin, ...timing }, context);
  }
}

function isProbing(job: RawMapping): boolean {
  const { metrics_path, params, relabel_configs } = job;
  const { module, target } = mappingOf(params);
  const setsTarget = listOf(relabel_configs).some(
    (rule) => mappingOf(rule).target_label === '__param_target',
  );
  const path = textOf(metrics_path) ?? '';
  return setsTarget || (path.endsWith('/probe') && (module !== undefined || target !== undefined));
}

function startLabels(job: RawMapping, name: string, { address, labels }: Target): Labels {
  const params = Object.entries(mappingOf(job.params)).flatMap(([key, values]) => {
    const [first] = textsOf(values);
    return first === undefined ? [] : [[`__param_${key}`, first] as const];
  });
  return new Map([
    ['job', name],
    ...params,
    ['__metrics_path__', textOf(job.metrics_path) ?? '/metrics'],
    ['__scheme__', textOf(job.scheme) ?? 'http'],
    ...labels,
    ['__address__', address],
  ]);
}

/** null for a target that a rule drops. */
function relabelled(labels: Labels, steps: readonly RelabelStep[]): Labels | null {
  let result = labels;
  for (const step of steps) {
    const next = step(result);
    if (next === null) return null;
    result = next;
  }
  return result;
}

function relabelSteps(job: RawMapping, origin: Origin, draft: Draft): readonly RelabelStep[] {
  return listOf(job.relabel_configs).flatMap((rule, index) => {
    const step = relabelStep(rule);
    if (step !== null) return [step];
    const why = 'the import does not understand its action or its regular expression';
    const advice = 'see whether the targets and tags of the job are right';
    draft.report.leftOut(below(origin, 'relabel_configs', index), why, advice);
    return [];
  });
}

interface JobFacts {
  readonly name: string;
  readonly origin: Origin;
  readonly periodMs: number;
  readonly scrapeTimeoutMs: number;
}

function addTarget(
  { origin }: Target,
  labels: Labels,
  job: JobFacts,
  { modules, draft, onModuleTarget }: JobsContext,
): void {
  const { report } = draft;
  const target = labels.get('__param_target') ?? '';
  // The exporter's own default.
  const moduleName = labels.get('__param_module') ?? 'http_2xx';
  if (target === '') {
    const why = 'its labels give no __param_target, so nothing is probed';
    report.leftOut(origin, why, 'see relabel_configs of the job');
    return;
  }
  const hasHostname = labels.has('__param_hostname');
  if (onModuleTarget !== undefined) {
    onModuleTarget({ module: moduleName, target, hasHostname, origin: job.origin });
    return;
  }
  if (!modules.has(moduleName)) {
    const why = `the module ${moduleName.slice(0, 60)} is not in the given files, so the checks only see that targets answer`;
    report.leftOut(
      job.origin,
      why,
      'give the configuration of the exporter on the command line, too',
    );
  }
  const module = modules.find(moduleName);
  // The reason was already reported.
  if (module === null && modules.has(moduleName)) return;
  const probe = module?.probeOf(target) ?? guessedProbe(target, moduleName, draft);
  if ('why' in probe) {
    report.leftOut(origin, probe.why, 'write a check by hand');
    return;
  }
  if (hasHostname) {
    const why = 'its parameter hostname, the name for Host and TLS, is not carried over';
    report.leftOut(origin, why, 'use a URL with that name, or a header Host of an API check');
  }
  const scrapeMs = job.scrapeTimeoutMs - TIMEOUT_OFFSET_MS;
  const instance = labels.get('instance') ?? target;
  draft.addCheck({
    name: `${job.name}: ${shownTarget(instance)}`,
    origin,
    tags: tagsOf(labels),
    activated: true,
    description: null,
    groupId: null,
    probe: { ...probe, timeoutMs: Math.max(1, Math.min(module?.timeoutMs ?? scrapeMs, scrapeMs)) },
    periodMs: job.periodMs,
    scheduleOrigin: job.origin,
    retryStrategy: null,
  });
}

/** The targets of the given files that `file_sd_configs` names. */
function targetsOfFiles(
  job: RawMapping,
  origin: Origin,
  { targetFiles, used, draft }: JobsContext,
): readonly Target[] {
  return listOf(job.file_sd_configs).flatMap((raw, index) =>
    textsOf(mappingOf(raw).files).flatMap((pattern, n) => {
      const found = targetFiles.filter((file) => isNamed(file, pattern, origin.file));
      for (const file of found) used.add(file);
      if (found.length === 0) {
        const at = below(origin, 'file_sd_configs', index, 'files', n);
        const why = 'no given file has this name, so its targets are not known';
        draft.report.leftOut(at, why, 'give the file of targets on the command line, too');
      }
      return found.flatMap((file) => targetsIn(file.value, { file, path: [] }));
    }),
  );
}

/** Whether a pattern names the file by its path relative to the configuration, or by its name in another folder. */
function isNamed({ name }: SourceFile, pattern: string, configuration: SourceFile): boolean {
  const full = new RegExp(patternFromGlob(resolve(dirname(configuration.name), pattern)));
  const last = new RegExp(patternFromGlob(basename(pattern)));
  return full.test(resolve(name)) || last.test(basename(name));
}

function reportDiscovery(job: RawMapping, origin: Origin, { report }: Draft): void {
  for (const key of Object.keys(job)) {
    if (!key.endsWith('_sd_configs') || key === 'file_sd_configs') continue;
    const why = 'its targets are only known to Prometheus while it runs';
    const advice = 'write them into a file of targets (its page Service discovery shows them)';
    report.leftOut(below(origin, key), why, advice);
  }
}
