/** `1 check`, `2 checks`. Pass an irregular plural. */
export function countText(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
