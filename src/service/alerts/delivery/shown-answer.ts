/** Enough to see what a receiver did not like, and too little to read a service by its answers. */
const MAX_ANSWER_CHARS = 200;

/** What the log keeps and shows of an answer: its first characters, none cut in half. */
export function shownAnswer(answer: string | null): string | null {
  if (answer === null || answer.length <= MAX_ANSWER_CHARS) return answer;
  // A character has two units of UTF-16 at most.
  const start = [...answer.slice(0, 2 * MAX_ANSWER_CHARS)];
  return start.slice(0, MAX_ANSWER_CHARS).join('');
}
