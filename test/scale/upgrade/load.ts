import { setTimeout as delay } from "node:timers/promises";
import { parseEther } from "viem";
import { accounts } from "../../../devnet/accounts.ts";
import { contracts } from "../../../devnet/contracts/addresses.ts";
import type { Market } from "../../support/chain/market.ts";
import { openTrader } from "../../support/chain/trader.ts";
import type { Release } from "./release.ts";

const chainId = 33139;
const orderMs = 5_000;

/** Lists of every kind: together they read the tables of all projections. */
const paths = [
  "/v1/listings?chainId=33139&per_page=20",
  "/v1/bids?chainId=33139&per_page=20",
  "/v1/sales?chainId=33139&per_page=20",
  "/v1/activity?chainId=33139&per_page=20",
  "/v1/collections?chainId=33139",
  `/v1/collections/${contracts.punks}?chainId=33139`,
  `/v1/collections/${contracts.punks}/tokens?chainId=33139`,
  `/v1/collections/${contracts.punks}/traits?chainId=33139`,
  `/v1/collections/${contracts.punks}/holders?chainId=33139`,
  `/v1/wallets/${accounts.alice.address}/tokens?chainId=33139`,
  `/v1/wallets/${accounts.alice.address}/exposure?chainId=33139`,
];

/** What a load balancer saw: all answers went to a release that had said it is ready. */
type Seen = {
  readonly answers: Map<number, number>;
  /** 5xx other than 503 with `Retry-After`, and connections that failed, with where. */
  readonly faults: string[];
  /** Milliseconds of the longest time in which no read was answered with 200. */
  longestGapMs: number;
  /** The longest time that a refused request was asked to wait. */
  longestRetryAfterSeconds: number;
  /** Ids of the orders that were answered with 201. */
  readonly acknowledged: string[];
  readonly refusedOrders: string[];
};

/** Sends requests to the newest release that is ready, and each path to all of them, until it is ended. */
export function startLoad(market: Market, releases: () => readonly Release[]) {
  const ending = new AbortController();
  const { signal } = ending;
  const seen: Seen = {
    ...{ answers: new Map(), faults: [], acknowledged: [], refusedOrders: [] },
    ...{ longestGapMs: 0, longestRetryAfterSeconds: 0 },
  };
  const ready = new Set<Release>();
  const inRotation = () => releases().findLast((one) => ready.has(one));
  let lastGood = performance.now();

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
  const note = (release: Release, path: string, answer: Response, text: string) => {
    seen.answers.set(answer.status, (seen.answers.get(answer.status) ?? 0) + 1);
    const retryAfter = Number(answer.headers.get("retry-after") ?? Number.NaN);
    const isRefusal = answer.status === 503 && retryAfter >= 0;
    if (isRefusal)
      seen.longestRetryAfterSeconds = Math.max(seen.longestRetryAfterSeconds, retryAfter);
    else if (answer.status >= 500)
      seen.faults.push(`${answer.status} ${release.baseUrl}${path}: ${text}`);
  };
  const read = async (release: Release, path: string): Promise<boolean> => {
    try {
      const answer = await fetch(release.baseUrl + path);
      note(release, path, answer, await answer.text());
      return answer.status === 200;
    } catch (error) {
      // One that is not listening yet, or not any more.
      if (inRotation() === release && releases().includes(release))
        seen.faults.push(`${path}: ${String(error)}`);
      return false;
    }
  };
  const readAll = async () => {
    for (let turn = 0; !signal.aborted; turn += 1) {
      const path = paths[turn % paths.length] ?? "";
      const served = inRotation();
      for (const one of releases()) {
        const isGood = await read(one, path);
        if (one !== served || !isGood) continue;
        seen.longestGapMs = Math.max(seen.longestGapMs, performance.now() - lastGood);
        lastGood = performance.now();
      }
      await delay(20);
    }
  };
  const list = async () => {
    for (let tokenId = 20_001n; !signal.aborted; tokenId += 1n) {
      await market.actors.alice.mintsRange(contracts.punks, tokenId, 1n);
      const served = inRotation();
      if (served === undefined) continue;
      const { baseUrl } = served;
      const trader = openTrader({
        baseUrl,
        chainId,
        client: market.client,
        account: accounts.alice,
      });
      const order = { contract: contracts.punks, tokenId, unitPriceWei: parseEther("1") };
      const askId = await Promise.race([trader.lists(order), late()]).catch((error: unknown) => {
        // A refusal leaves nothing that counts; a fault does.
        const text = String(error);
        if (/: 5(?!03)\d\d /.test(text) || (/fetch failed/.test(text) && inRotation() === served))
          seen.faults.push(text);
        seen.refusedOrders.push(text);
      });
      if (askId !== undefined) seen.acknowledged.push(askId);
      await delay(100);
    }
  };
  const all = Promise.all([watch(), readAll(), list()]);
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
