import { MINUTE_MS } from '../../../model/time-units.ts';
import type { Draft } from '../common/draft.ts';
import { mappingOf } from '../common/fields.ts';
import { shownTarget } from '../common/import-variables.ts';
import type { SourceFile } from '../common/source-file.ts';
import { importScrapeJobs } from './scrape-jobs.ts';
import { guessedProbe, ModuleList, tagsOf, targetsIn } from './targets.ts';

/** The files of one import by kind. */
export interface BlackboxFiles {
  /** Configurations of the exporter. */
  readonly modules: readonly SourceFile[];
  /** Configurations of Prometheus. */
  readonly scrapeJobs: readonly SourceFile[];
  /** Files of targets (file_sd), in JSON or YAML. */
  readonly targets: readonly SourceFile[];
}

/** Creates checks from the modules of the exporter and the targets of Prometheus. */
export function importBlackbox(files: BlackboxFiles, draft: Draft): void {
  const modules = new ModuleList(draft);
  for (const file of files.modules) {
    modules.add(mappingOf(file.value).modules, { file, path: [] });
  }
  const used = new Set<SourceFile>();
  const context = { modules, draft, targetFiles: files.targets, used };
  for (const file of files.scrapeJobs) importScrapeJobs(file, context);
  for (const file of files.targets) if (!used.has(file)) importTargets(file, modules, draft);
  if (files.scrapeJobs.length === 0 && files.targets.length === 0) {
    const [file] = files.modules;
    const why = 'modules alone have no targets';
    const advice =
      'give the configuration of Prometheus, or files of targets, on the command line, too; or add --probe-modules for an agent that answers Prometheus in place of the exporter';
    if (file !== undefined) draft.report.leftOut({ file, path: ['modules'] }, why, advice);
    return;
  }
  modules.noteUnused();
}

/** Imports a file of targets that no job names. It has no periods, and usually no modules. */
function importTargets(file: SourceFile, modules: ModuleList, draft: Draft): void {
  const whole = { file, path: [] };
  draft.report.changed(whole, 'a file of targets has no period: the checks run every minute');
  for (const { address, labels, origin } of targetsIn(file.value, whole)) {
    const target = labels.get('__param_target') ?? address;
    const name = labels.get('__param_module') ?? labels.get('module') ?? null;
    const module = name === null ? null : modules.find(name);
    if (name !== null && module === null && modules.has(name)) continue;
    if (module === null) {
      const guess =
        'URL checks of URLs, TCP checks of hosts with a port, ICMP checks of all others';
      draft.report.changed(
        whole,
        `where the module of a target is not known, the checks are ${guess}`,
      );
    }
    const probe = module?.probeOf(target) ?? guessedProbe(target, name, draft);
    if ('why' in probe) {
      draft.report.leftOut(origin, probe.why, 'write a check by hand');
      continue;
    }
    draft.addCheck({
      name: shownTarget(labels.get('instance') ?? target),
      origin,
      tags: tagsOf(labels),
      activated: true,
      description: null,
      groupId: null,
      probe: { ...probe, timeoutMs: module?.timeoutMs ?? null },
      periodMs: MINUTE_MS,
      scheduleOrigin: whole,
      retryStrategy: null,
    });
  }
}
