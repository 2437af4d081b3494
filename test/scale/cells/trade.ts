import { setTimeout as delay } from "node:timers/promises";
import type { Address, Hex } from "viem";
import { expect } from "vitest";
import { accounts } from "../../../devnet/accounts.ts";
import { contracts } from "../../../devnet/contracts/addresses.ts";
import type { Market } from "../../support/chain/market.ts";
import { type Answer, openTrader, type Trader } from "../../support/chain/trader.ts";
import { until } from "../../support/database/pipeline.ts";

/** What happened to those who trade on a chain. */
export type Traded = {
  /** Listings that were accepted. */
  readonly listed: string[];
  /** Transactions of purchases. */
  readonly bought: string[];
  /** Requests that were answered 503, and how long it took at most until one was taken. */
  refused: number;
  longestMs: number;
};

export const nothingTraded = (): Traded => ({ listed: [], bought: [], refused: 0, longestMs: 0 });

const editionIds = 6;
const pauseMs = 50;

/** Somebody lists, reads what was listed, and another one buys it; a third one lists only. Until it is over. */
export async function trade(
  { anvil, client }: Market,
  baseUrl: string,
  traded: Traded,
  isOver: () => boolean,
): Promise<void> {
  const trader = (name: "alice" | "bob" | "carol") =>
    openTrader({ baseUrl, chainId: anvil.chainId, client, account: accounts[name] });
  const [alice, bob, carol] = [trader("alice"), trader("bob"), trader("carol")];
  const list = async (seller: Trader, number: number): Promise<string> => {
    const input = {
      contract: contracts.editions,
      tokenId: BigInt(1 + (number % editionIds)),
      // For less each time: a listing that is sold and not known to be would supersede a dearer one.
      unitPriceWei: 10n ** 15n - BigInt(number),
      quantity: 1n,
    };
    const { body } = await taken(traded, 201, () => seller.submitListing(input));
    const { askId } = body.data as { askId: string };
    traded.listed.push(askId);
    expect((await seller.get(`/v1/listings/${askId}?chainId=${anvil.chainId}`)).status).toBe(200);
    return askId;
  };
  const sellAndBuy = async () => {
    for (let number = 1; !isOver(); number += 1) {
      const askId = await list(alice, number);
      const { body } = await taken(traded, 200, () => bob.buyData(askId));
      const { to, data, value } = body.data as { to: Address; data: Hex; value: string };
      const hash = await client.sendTransaction({
        ...{ account: bob.maker, to, data, value: BigInt(value), chain: null },
      });
      await client.waitForTransactionReceipt({ hash });
      traded.bought.push(hash);
    }
  };
  const listOnly = async () => {
    for (let number = 1; !isOver(); number += 1) {
      await list(carol, number);
      await delay(pauseMs);
    }
  };
  await Promise.all([sellAndBuy(), listOnly()]);
}

/** Asks until it is no longer refused for the moment. */
async function taken(
  traded: Traded,
  status: number,
  request: () => Promise<Answer>,
): Promise<Answer> {
  const startedAt = performance.now();
  let answer = await request();
  for (; answer.status === 503; answer = await request()) {
    traded.refused += 1;
    await delay(pauseMs);
  }
  traded.longestMs = Math.max(traded.longestMs, performance.now() - startedAt);
  expect([answer.status, answer.body]).toEqual([status, answer.body]);
  return answer;
}

/** Every listing is there, and every purchase is a sale. */
export async function expectTraded(
  ask: (path: string) => Promise<Response>,
  chainId: number,
  { listed, bought }: Traded,
): Promise<void> {
  for (const askId of listed) {
    const { status } = await ask(`/v1/listings/${askId}?chainId=${chainId}`);
    expect([askId, status]).toEqual([askId, 200]);
  }
  const sold = await until("every sale", async () => {
    const found: string[] = [];
    for (let page = 1, total = 1; found.length < total; page += 1) {
      const response = await ask(`/v1/sales?chainId=${chainId}&per_page=100&page=${page}`);
      const { data, meta } = (await response.json()) as {
        data: { txHash: string }[];
        meta: { total: number };
      };
      total = meta.total;
      found.push(...data.map(({ txHash }) => txHash));
    }
    return found.length >= bought.length && found;
  });
  expect(sold.toSorted()).toEqual(bought.toSorted());
}
