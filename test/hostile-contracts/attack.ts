import { setTimeout as delay } from "node:timers/promises";
import { connect } from "#devnet/client.ts";
import { largeMembers, release } from "#devnet/hostile-contracts/members.ts";
import { askAbout } from "./hostile-caller.ts";

const pauseMs = 200;

export type Attack = {
  /** Of the chain 33139 on which they act. */
  readonly rpcUrl: string;
  /** Of the service that is asked about each contract; null: none is. */
  readonly baseUrl: string | null;
  readonly names: readonly string[];
  /** How long it goes on; the first round is finished in any case. */
  readonly ms: number;
};

export type Spent = { readonly gas: number; readonly times: number };

/** Deploys and calls hostile contracts again and again, the large ones once; returns what that cost. */
export async function attack({ rpcUrl, baseUrl, names, ms }: Attack): Promise<Spent> {
  const signal = AbortSignal.timeout(ms);
  const client = connect({ chainId: 33139, rpcUrl });
  const spent = { gas: 0, times: 0 };
  // The round is part of a contract's address: a run must not meet the contracts of the run before it.
  for (let round = Date.now(), first = true; first || !signal.aborted; round += 1, first = false) {
    const releases = names
      .filter((name) => first || !largeMembers.has(name))
      .map(async (name) => {
        // The node may have no block for it in time.
        const released = await release(client, name, round).catch(() => null);
        if (released === null) return;
        spent.gas += Number(released.gas);
        spent.times += 1;
        if (baseUrl !== null) await askAbout(baseUrl, released.address);
      });
    await Promise.all(releases);
    await delay(pauseMs, undefined, { signal }).catch(() => {});
  }
  return spent;
}
