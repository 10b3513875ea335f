import { MASK } from '../../model/credentials/sensitive-headers.ts';
import type { YieldWhenDue } from '../../runtime/event-loop.ts';
import { mapDeepTexts } from '../../scrub/deep-texts.ts';
import { type ResultDetails, scrubResult } from '../../scrub/result-fields.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';

/** Of a result, scrubbed without a turn: some milliseconds, whatever the text. Most have less. */
const AT_ONCE_CHARS = 16_384;

/**
 * Like `scrubResult`, with turns of the event loop in between. One result can bring as much as a
 * whole batch may (256 lines of log of 8 KiB, say), which at once would hold up everybody else for
 * seconds where it is made for that.
 *
 * @param turn called after each text: lets others go on, where it is time for that
 */
export async function scrubYielding<Result extends ResultDetails>(
  result: Result,
  scrubber: Scrubber,
  turn: YieldWhenDue,
): Promise<Result> {
  const known = new Map<string, string>();
  for (;;) {
    const left: string[] = [];
    let chars = 0;
    const text: Scrubber['text'] = (given) => {
      const scrubbed = known.size === 0 ? undefined : known.get(given);
      if (scrubbed !== undefined) return scrubbed;
      chars += given.length;
      if (chars <= AT_ONCE_CHARS) return scrubber.text(given);
      left.push(given);
      return given;
    };
    const deep: Scrubber['deep'] = (value, keep = new Set()) =>
      mapDeepTexts(value, text, keep, MASK);
    const scrubbed = scrubResult(result, { ...scrubber, text, deep });
    if (left.length === 0) return scrubbed;
    // The next round looks them up, and so has nothing left.
    for (const one of left) {
      known.set(one, await scrubbedText(one, scrubber));
      await turn();
    }
  }
}

async function scrubbedText(text: string, scrubber: Scrubber): Promise<string> {
  if (text.length <= AT_ONCE_CHARS) return scrubber.text(text);
  const bytes = Buffer.from(text);
  const scrubbed = await scrubber.bytes(bytes);
  return scrubbed === bytes ? text : Buffer.from(scrubbed).toString();
}
