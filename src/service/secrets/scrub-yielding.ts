import { MASK } from '../../model/credentials/mask.ts';
import type { YieldWhenDue } from '../../runtime/event-loop.ts';
import { mapDeepTexts } from '../../scrub/deep-texts.ts';
import { type ResultDetails, scrubResult } from '../../scrub/result-fields.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';

/** Texts up to this length are scrubbed without yielding, in some milliseconds at most. Most results are shorter. */
const AT_ONCE_CHARS = 16_384;

/**
 * `scrubResult` that yields to the event loop. One result can be as large as a whole batch (256 log lines
 * of 8 KiB, for example); scrubbing a hostile one at once would block the process for seconds.
 *
 * @param yieldWhenDue called after each text
 */
export async function scrubYielding<Result extends ResultDetails>(
  result: Result,
  scrubber: Scrubber,
  yieldWhenDue: YieldWhenDue,
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
    // The next pass finds these texts in the map and therefore finishes.
    for (const one of left) {
      known.set(one, await scrubbedText(one, scrubber));
      await yieldWhenDue();
    }
  }
}

async function scrubbedText(text: string, scrubber: Scrubber): Promise<string> {
  if (text.length <= AT_ONCE_CHARS) return scrubber.text(text);
  const bytes = Buffer.from(text);
  const scrubbed = await scrubber.bytes(bytes);
  return scrubbed === bytes ? text : Buffer.from(scrubbed).toString();
}
