/** When the primary was where, to tell how old a replica's data is. */
export type LagClock = {
  note(position: bigint, atMs: number): void;
  /** Seconds since the primary was first seen behind this position; 0: nothing is missing. */
  lagSeconds(position: bigint, atMs: number): number;
};

/** Ten minutes at two looks a second: an older lag is shown as that old at least. */
const mostSamples = 1_200;

export function openLagClock(): LagClock {
  const samples: { position: bigint; atMs: number }[] = [];
  return {
    note(position, atMs) {
      const last = samples.at(-1);
      if (last !== undefined && last.position === position) return;
      // After a failover the primary may have less than the one before.
      while ((samples.at(-1)?.position ?? position) > position) samples.pop();
      samples.push({ position, atMs });
      if (samples.length > mostSamples) samples.shift();
    },
    lagSeconds(position, atMs) {
      const ahead = samples.find((sample) => sample.position > position);
      return ahead === undefined ? 0 : Math.max(0, atMs - ahead.atMs) / 1_000;
    },
  };
}
