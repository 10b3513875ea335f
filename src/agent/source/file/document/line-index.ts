import type { Position } from '../../common/file-problem.ts';

/**
 * Finds lines and columns in a text. The YAML library's own counter ignores line ends inside
 * unclosed quotes, where positions are needed most.
 */
export class LineIndex {
  readonly #starts: number[] = [0];

  constructor(text: string) {
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) {
      this.#starts.push(end + 1);
    }
  }

  /** @param offset from 0; offsets past the end are on the last line */
  positionAt(offset: number): Position {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (this.#starts[low] ?? 0) + 1 };
  }
}
