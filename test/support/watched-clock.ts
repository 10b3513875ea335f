import { FakeClock } from './fake-clock.ts';

/** A clock that reports each reading: a probe reads it at each event. */
export class WatchedClock extends FakeClock {
  #look = (): void => {};

  override monotonicMs(): number {
    this.#look();
    return super.monotonicMs();
  }

  look(): Promise<void> {
    return new Promise((resolve) => {
      this.#look = resolve;
    });
  }
}
