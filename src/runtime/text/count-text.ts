/** `1 check`, `2 checks`; nouns that do not end in s alone give their plural. */
export function countText(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
