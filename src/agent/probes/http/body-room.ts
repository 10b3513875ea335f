/** What one attempt may keep of a body beyond what its result stores. */
export interface BodyRoom {
  /** Whether so many bytes more may be kept; they then count until the room is closed. */
  take(bytes: number): boolean;
  /** Gives all back. Once, when the body is stored or not wanted any more. */
  close(): void;
}

/**
 * The memory that the bodies of all attempts share. Most bodies are small; but a hundred runs at
 * once against targets that send 25 MB each must not end the agent.
 */
export class SharedBodyRoom {
  #freeBytes: number;

  constructor(maxBytes: number) {
    this.#freeBytes = maxBytes;
  }

  get freeBytes(): number {
    return this.#freeBytes;
  }

  open(): BodyRoom {
    let takenBytes = 0;
    return {
      take: (bytes) => {
        if (bytes > this.#freeBytes) return false;
        this.#freeBytes -= bytes;
        takenBytes += bytes;
        return true;
      },
      close: () => {
        this.#freeBytes += takenBytes;
        takenBytes = 0;
      },
    };
  }
}
