import { countText } from '../../../runtime/text/count-text.ts';
import { durationText, wholeUnitText } from '../../../runtime/text/duration-text.ts';
import { quoted } from '../../../runtime/text/quoted.ts';
import type { AnalysisInput, OtherLocation } from '../analysis-input.ts';
import { phaseChanges, phaseText } from './causes/slow-causes.ts';
import type { Subject } from './subject.ts';
import { listText, timeText } from './texts.ts';

/** A phase that grew by less than this, or less than twofold, counts as unchanged. */
const GREW_MS = 20;
const MAX_LISTED = 8;

/** One sentence about where else it failed, for the cause; or null. */
export function scopeSentence(subject: Subject, { surroundings }: AnalysisInput): string | null {
  const { others, neighbours } = surroundings;
  const passing = others.filter(({ passed }) => passed);
  if (others.length > 0 && passing.length === others.length) {
    return `As the check passes in ${listText(passing.map(placeOf), MAX_LISTED)}, the cause is likely between ${subject.location} and the target, or the target treats ${subject.location} differently.`;
  }
  const failing = neighbours.filter((one) => one.failing);
  if (failing.length > 0 && failing.length === neighbours.length) {
    return `${failing.length === 1 ? 'The other check' : `All ${failing.length} other checks`} of the same host ${failing.length === 1 ? 'fails' : 'fail'} too, so the host as a whole is likely concerned.`;
  }
  if (others.length > 0 && passing.length === 0) {
    return `It also fails in ${listText(others.map(placeOf), MAX_LISTED)}, so the cause is likely at the target and not on the route to it.`;
  }
  return null;
}

const placeOf = ({ location }: OtherLocation): string => location;

/** The events around the failure, in sentences. */
export function surroundingSentences(subject: Subject, input: AnalysisInput): readonly string[] {
  return [
    ...history(subject, input),
    ...changesSince(subject, input),
    ...elsewhere(input),
    ...nextDoor(input),
  ];
}

function history(subject: Subject, { result, surroundings }: AnalysisInput): readonly string[] {
  const { passed, failing, lookedBackMs } = surroundings;
  if (lookedBackMs === 0) return [];
  const [last] = passed;
  if (last === undefined) {
    return [
      `No run in ${subject.location} passed in the ${wholeUnitText(lookedBackMs)} before.`,
      ...(failing.runs > 1 ? [`${countText(failing.runs, 'run')} failed there since.`] : []),
    ];
  }
  const before = wholeUnitText(Math.max(0, result.checkRunId - last.slotMs));
  const sentences = [
    `The last run in ${subject.location} that passed was at ${timeText(last.slotMs)}, ${before} before this one, and took ${durationText(last.responseTimeMs)}.`,
  ];
  if (failing.firstSlotMs !== null && failing.runs > 0) {
    sentences.push(
      failing.runs === 1
        ? 'This is the first failed run there since then.'
        : `It has failed there since ${timeText(failing.firstSlotMs)}: ${countText(failing.runs, 'run')} including this one.`,
    );
  }
  return sentences;
}

function changesSince(subject: Subject, input: AnalysisInput): readonly string[] {
  const { passed } = input.surroundings;
  const [last] = passed;
  if (last === undefined) return [];
  const sentences: string[] = [];
  if (last.address !== null && subject.address !== null && last.address !== subject.address) {
    sentences.push(
      `The run went to ${subject.address}, the last one that passed to ${last.address}: the address has changed, or there are several.`,
    );
  }
  for (const { name, ms, usualMs } of phaseChanges(subject, input)) {
    if (usualMs === null || ms - usualMs < GREW_MS || ms < usualMs * 2) continue;
    sentences.push(
      `${capital(phaseText(name))} took ${durationText(ms)}; the median of the last ${countText(passed.length, 'run')} that passed is ${durationText(usualMs)}.`,
    );
  }
  return sentences;
}

function elsewhere({ result, surroundings }: AnalysisInput): readonly string[] {
  return surroundings.others.slice(0, MAX_LISTED).map((other) => {
    const when =
      other.slotMs === result.checkRunId ? 'at the same slot' : `at ${timeText(other.slotMs)}`;
    const status = other.status === null ? '' : ` with status ${other.status}`;
    if (other.passed) return `In ${other.location} the check passed ${when}${status}.`;
    const how = other.code === null ? status : ` with ${other.code}`;
    return `In ${other.location} the check failed ${when}${how}.`;
  });
}

function nextDoor({ surroundings }: AnalysisInput): readonly string[] {
  const { neighbours } = surroundings;
  if (neighbours.length === 0) return [];
  const failing = neighbours.filter((one) => one.failing);
  const nameOf = ({ name, checkType }: (typeof neighbours)[number]): string =>
    `${quoted(name, 80)} (${checkType})`;
  const passing = neighbours.filter((one) => !one.failing);
  const parts = [
    ...(failing.length === 0 ? [] : [`${listText(failing.map(nameOf), MAX_LISTED)} fail as well`]),
    ...(passing.length === 0 ? [] : [`${listText(passing.map(nameOf), MAX_LISTED)} pass`]),
  ];
  return [`Other checks of the same host: ${parts.join('; ')}.`];
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
