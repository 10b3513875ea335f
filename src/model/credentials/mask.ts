/** Replaces secret values (src/scrub/README.md, "What is masked, and where"). */
export const MASK = '********';

/** Whether a text contains the mask, also percent-encoded, as clients that build URLs send it. */
export function holdsMask(text: string): boolean {
  return text.includes(MASK) || text.replaceAll(/%2a/gi, '*').includes(MASK);
}
