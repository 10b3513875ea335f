import { FakeClock } from './fake-clock.ts';

/** A clock that reports each reading: the probe reads it when something happens. */
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
