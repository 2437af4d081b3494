import { setTimeout as delay } from "node:timers/promises";
import { parseEther } from "viem";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { Market } from "#test/support/chain/market.ts";
import { openTrader } from "#test/support/chain/trader.ts";
import type { Release } from "./release.ts";

const orderMs = 5_000;

/** Lists of every kind: together they read the tables of all projections. */
const pathsOf = (chainId: number) => [
  `/v1/listings?chainId=${chainId}&per_page=20`,
  `/v1/bids?chainId=${chainId}&per_page=20`,
  `/v1/sales?chainId=${chainId}&per_page=20`,
  `/v1/activity?chainId=${chainId}&per_page=20`,
  `/v1/collections?chainId=${chainId}`,
  `/v1/collections/${contracts.punks}?chainId=${chainId}`,
  `/v1/collections/${contracts.punks}/tokens?chainId=${chainId}`,
  `/v1/collections/${contracts.punks}/traits?chainId=${chainId}`,
  `/v1/collections/${contracts.punks}/holders?chainId=${chainId}`,
  `/v1/wallets/${accounts.alice.address}/tokens?chainId=${chainId}`,
  `/v1/wallets/${accounts.alice.address}/exposure?chainId=${chainId}`,
];
/** About all chains. */
const search = "/v1/search?q=punk";

/** What callers saw. */
type Seen = {
  /** Reads by status, of all releases. */
  readonly answers: Map<number, number>;
  /** 5xx other than 503 with `Retry-After`, and connections that failed, with where. */
  readonly faults: string[];
  /** Milliseconds of the longest time for which the release in rotation refused reads. */
  longestRefusalMs: number;
  /** The longest time that a refused request was asked to wait. */
  longestRetryAfterSeconds: number;
  /** Orders that were answered with 201. */
  readonly acknowledged: { chainId: number; askId: string }[];
  readonly refusedOrders: string[];
};

type Load = {
  /** A chain each. */
  readonly markets: readonly Market[];
  /** Of the tokens that are minted and listed. */
  readonly firstTokenId: bigint;
  readonly releases: () => readonly Release[];
};

/**
 * Sends orders and reads to the newest release that has said it is ready, as a load balancer does, and the same reads to
 * the others, until it is ended. Those that run at its start are ready.
 */
export function startLoad({ markets, firstTokenId, releases }: Load) {
  const paths = [search, ...markets.flatMap(({ anvil }) => pathsOf(anvil.chainId))];
  const ending = new AbortController();
  const { signal } = ending;
  const seen: Seen = {
    ...{ answers: new Map(), faults: [], acknowledged: [], refusedOrders: [] },
    ...{ longestRefusalMs: 0, longestRetryAfterSeconds: 0 },
  };
  const ready = new Set(releases());
  let served: Release | undefined;
  let refusedSince: number | undefined;
  const inRotation = () => {
    const running = releases();
    if (served !== undefined && !running.includes(served)) served = undefined;
    served = running.findLast((one) => ready.has(one)) ?? served;
    return served;
  };

  const watch = async () => {
    while (!signal.aborted) {
      for (const one of releases()) {
        const status = await statusOf(`${one.baseUrl}/readyz`);
        if (status === 200) ready.add(one);
        else ready.delete(one);
      }
      await delay(100);
    }
  };
  const note = (path: string, answer: Response, text: string) => {
    seen.answers.set(answer.status, (seen.answers.get(answer.status) ?? 0) + 1);
    const retryAfter = Number(answer.headers.get("retry-after") ?? Number.NaN);
    if (answer.status === 503 && retryAfter >= 0)
      seen.longestRetryAfterSeconds = Math.max(seen.longestRetryAfterSeconds, retryAfter);
    else if (answer.status !== 200) seen.faults.push(`${answer.status} ${path}: ${text}`);
  };
  const read = async (release: Release, path: string): Promise<boolean> => {
    try {
      const answer = await fetch(release.baseUrl + path);
      note(path, answer, await answer.text());
      return answer.status === 200;
    } catch (error) {
      // One that is not listening yet, or not any more.
      if (inRotation() === release) seen.faults.push(`${path}: ${String(error)}`);
      return false;
    }
  };
  const readServed = async () => {
    for (let turn = 0; !signal.aborted; turn += 1) {
      const one = inRotation();
      const isGood = one !== undefined && (await read(one, paths[turn % paths.length] ?? ""));
      if (!isGood) refusedSince ??= performance.now();
      else if (refusedSince !== undefined) {
        const refusedMs = performance.now() - refusedSince;
        seen.longestRefusalMs = Math.max(seen.longestRefusalMs, refusedMs);
        refusedSince = undefined;
      }
      await delay(20);
    }
  };
  const readOthers = async () => {
    for (let turn = 0; !signal.aborted; turn += 1) {
      for (const one of releases())
        if (one !== inRotation()) await read(one, paths[turn % paths.length] ?? "");
      await delay(50);
    }
  };
  const list = async (market: Market) => {
    const { chainId } = market.anvil;
    for (let tokenId = firstTokenId; !signal.aborted; tokenId += 1n) {
      await market.actors.alice.mintsRange(contracts.punks, tokenId, 1n);
      const one = inRotation();
      if (one === undefined) continue;
      const trader = openTrader({
        ...{ baseUrl: one.baseUrl, chainId, client: market.client, account: accounts.alice },
      });
      const order = { contract: contracts.punks, tokenId, unitPriceWei: parseEther("1") };
      const askId = await Promise.race([trader.lists(order), late()]).catch((error: unknown) => {
        // A refusal leaves nothing that counts; a fault does.
        const text = String(error);
        if (/: 5(?!03)\d\d /.test(text) || (/fetch failed/.test(text) && inRotation() === one))
          seen.faults.push(text);
        seen.refusedOrders.push(text);
      });
      if (askId !== undefined) seen.acknowledged.push({ chainId, askId });
      await delay(100);
    }
  };
  const all = Promise.all([watch(), readServed(), readOthers(), ...markets.map(list)]);
  return {
    seen,
    isReady: (release: Release) => ready.has(release),
    async stop() {
      ending.abort();
      await all;
    },
  };
}

/** Whoever waits longer for an answer goes to the release that is in rotation then. */
async function late(): Promise<never> {
  await delay(orderMs);
  throw new Error(`no answer within ${orderMs} ms`);
}

async function statusOf(url: string): Promise<number> {
  try {
    const answer = await fetch(url);
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 0;
  }
}
