/** This process's clock, which can be set forward; timers are unaffected. */
export type Clock = {
  /** Unix seconds. */
  now(): number;
  advance(seconds: number): void;
  /** Restores the real time. */
  restore(): void;
};

export function openClock(): Clock {
  const RealDate = Date;
  let aheadMs = 0;
  class AheadDate extends RealDate {
    constructor(...given: unknown[]) {
      if (given.length === 0) super(RealDate.now() + aheadMs);
      else super(...(given as [number]));
    }
    static override now(): number {
      return RealDate.now() + aheadMs;
    }
  }
  globalThis.Date = AheadDate as DateConstructor;
  return {
    now: () => Math.floor(Date.now() / 1000),
    advance(seconds) {
      aheadMs += seconds * 1000;
    },
    restore() {
      globalThis.Date = RealDate;
    },
  };
}
