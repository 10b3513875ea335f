import { namesIn } from '../../../model/check/template.ts';
import { CHECK_ID, freeCheckId } from '../../../model/ids.ts';
import { MINUTE_MS } from '../../../model/time-units.ts';
import { countText } from '../../../runtime/text/count-text.ts';
import { Draft } from '../common/draft.ts';
import { mappingOf } from '../common/fields.ts';
import { shownTarget } from '../common/import-variables.ts';
import type { Probe } from '../common/probe.ts';
import type { Origin, SourceFile } from '../common/source-file.ts';
import type { BlackboxFiles } from './import-blackbox.ts';
import type { TargetProbe } from './module-parts.ts';
import { importScrapeJobs, type ModuleTarget } from './scrape-jobs.ts';
import { ModuleList } from './targets.ts';

/**
 * Targets that never exist (RFC 6761, section 6.4), because each probe has its own target. Only types that need a
 * port get one: a DNS check would keep the port for every target without one.
 */
const PLACEHOLDERS = ['https://target.invalid/', 'target.invalid', 'target.invalid:1'];

/**
 * Creates one check for each module of the exporter, with the module's name as its id. It is not activated, and
 * only answers probes of Prometheus (src/agent/README.md, "Probes for Prometheus"). Scrape jobs determine the
 * targets of a module with credentials.
 */
export function importProbeModules(files: BlackboxFiles, draft: Draft): void {
  const modules = new ModuleList(draft);
  for (const file of files.modules) {
    modules.add(mappingOf(file.value).modules, { file, path: [] });
  }
  const targets = targetsOfModules(files, modules, draft);
  for (const [name, origin] of modules.origins) {
    if (!CHECK_ID.test(name)) {
      const why = 'its name cannot be the id of a check';
      const advice = 'rename it here and in the scrape configuration; letters, digits, _, . and -';
      draft.report.leftOut(origin, why, advice);
      continue;
    }
    const module = modules.find(name);
    if (module === null) continue;
    const probe = probeWith(module.probeOf, targets.get(name) ?? [], origin, draft);
    let id = freeCheckId(name);
    while (id !== name && modules.origins.has(id)) id = `${id}-2`;
    draft.addCheck({
      id,
      name,
      origin,
      tags: [],
      activated: false,
      description: null,
      groupId: null,
      probe: { ...probe, timeoutMs: module.timeoutMs },
      periodMs: MINUTE_MS,
      scheduleOrigin: origin,
      retryStrategy: null,
    });
  }
}

/**
 * Collects the targets that the jobs probe with each module. Everything else in the jobs concerns only Prometheus,
 * except a parameter that the agent refuses.
 */
function targetsOfModules(
  { scrapeJobs, targets }: BlackboxFiles,
  modules: ModuleList,
  { report }: Draft,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const onModuleTarget = ({ module, target, hasHostname, origin }: ModuleTarget): void => {
    found.set(module, [...(found.get(module) ?? []), target]);
    if (!hasHostname) return;
    const why = 'the agent refuses its probes (400), because they have the parameter hostname';
    report.leftOut(origin, why, 'remove the parameter, and give URLs with that name as targets');
  };
  const context = {
    modules,
    draft: new Draft(),
    targetFiles: targets,
    used: new Set<SourceFile>(),
    onModuleTarget,
  };
  for (const file of scrapeJobs) importScrapeJobs(file, context);
  return found;
}

/**
 * Applies a module to a placeholder, or to the first of its own targets if it has credentials: these are never sent
 * to a target that the client chooses.
 */
function probeWith(
  probeOf: TargetProbe,
  targets: readonly string[],
  origin: Origin,
  { report }: Draft,
): Omit<Probe, 'timeoutMs'> {
  const usable = (target: string): Omit<Probe, 'timeoutMs'> | null => {
    const probe = probeOf(target);
    return 'why' in probe ? null : probe;
  };
  const [placeholder] = PLACEHOLDERS.flatMap((target) => usable(target) ?? []);
  if (placeholder === undefined) throw new Error('no placeholder fits a type of check');
  if (namesIn(JSON.stringify(placeholder)).length === 0) return placeholder;
  const [first, ...others] = [...new Set(targets)];
  const own = first === undefined ? null : usable(first);
  const rule =
    'with credentials or variables it accepts only targets with its scheme, host and port';
  if (first === undefined || own === null) {
    const advice =
      first === undefined
        ? 'set its target, or give the scrape configuration, too'
        : 'set its target, as no check can have that of its jobs';
    report.changed(origin, `${rule}: ${advice}`);
    return placeholder;
  }
  report.changed(origin, `${rule}, those of ${shownTarget(first)}`);
  const foreign = others.filter((target) => addressOf(target) !== addressOf(first));
  if (foreign.length > 0) {
    const those = countText(foreign.length, 'other target');
    const why = `probes of its ${those} are refused, which have another scheme, host or port`;
    report.leftOut(origin, why, 'copy the check for each, and name the copy as module there');
  }
  return own;
}

function addressOf(target: string): string {
  const url = /^https?:/i.test(target) ? target : `http://${target}`;
  return URL.canParse(url) ? new URL(url).origin : target;
}
