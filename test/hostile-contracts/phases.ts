import { setTimeout as delay } from "node:timers/promises";
import type { SoakMarket } from "../soak/market.ts";
import { untilReady } from "../soak/processes.ts";
import type { Attacker } from "./attacker.ts";
import { type Costs, costsBetween, readCosts } from "./costs.ts";
import type { Samples } from "./samples.ts";

export const recoverySeconds = 300;
const unfollowedMs = 30_000;
/** After a trick: what it left in queues is worked off. */
const settleMs = 8_000;

export type Stage = {
  readonly market: SoakMarket;
  readonly attacker: Attacker;
  /** Of a chain that nobody follows. */
  readonly unfollowedUrl: string;
};

/** What happens at a time: honest people's samples of it, and what it costs. */
export type Phases = {
  /** Whose samples are taken now; null: nobody's. */
  readonly current: () => Samples | null;
  readonly isWriting: () => boolean;
  readonly beginWriting: () => void;
  readonly rest: (samples: Samples, ms: number) => Promise<Costs>;
  readonly attack: (
    samples: Samples,
    names: readonly string[],
    ms: number,
  ) => Promise<{ gas: number; times: number; costs: Costs }>;
  /** The same members, on a chain that nobody follows. */
  readonly attackElsewhere: (samples: Samples, names: readonly string[]) => Promise<void>;
};

export function openPhases({ market, attacker, unfollowedUrl }: Stage): Phases {
  let phase: Samples | null = null;
  let isWriting = false;
  const during = async <Result>(samples: Samples, work: () => Promise<Result>): Promise<Result> => {
    phase = samples;
    const result = await work();
    phase = null;
    return result;
  };
  const { baseUrl, rpcUrls } = market;
  return {
    current: () => phase,
    isWriting: () => isWriting,
    beginWriting() {
      isWriting = true;
    },
    async rest(samples, ms) {
      const before = await readCosts(market);
      await during(samples, () => delay(ms));
      return costsBetween(before, await readCosts(market));
    },
    async attack(samples, names, ms) {
      const before = await readCosts(market);
      const attacked = { rpcUrl: rpcUrls[33139], baseUrl, names, ms };
      const spent = await during(samples, () => attacker.attack(attacked));
      await untilReady(baseUrl, recoverySeconds);
      await delay(settleMs);
      return { ...spent, costs: costsBetween(before, await readCosts(market)) };
    },
    async attackElsewhere(samples, names) {
      const attacked = { rpcUrl: unfollowedUrl, baseUrl: null, names, ms: unfollowedMs };
      await during(samples, () => attacker.attack(attacked));
    },
  };
}
