import { pino } from "pino";
import { type Address, type Hex, keccak256, stringToHex } from "viem";
import { createApp } from "#api/app.ts";
import { openFeed } from "#api/feed/open-feed.ts";
import { type Listening, listen } from "#api/http/server.ts";
import { type ChainId, chainById, chainIds } from "#chains/index.ts";
import { allProjections } from "#projections/all.ts";
import type { Observation } from "#projections/log/append.ts";
import { priceTicked } from "#projections/prices/coin-prices.ts";
import { addressOf, block } from "../database/given.ts";
import {
  approval,
  filled,
  givenListing,
  receivedAt,
  ticked,
  transferred,
} from "../orders/order-facts.ts";
import { type Fact, openProjectedLog } from "../orders/projected-log.ts";
import { openTestMarket, testFee } from "../orders/test-market.ts";

const [maker, buyer] = [addressOf(0x51), addressOf(0x52)];
const lastHeight = 80;
const logger = pino({ level: "silent" });

/** Collections of each chain, of which every third was not traded, and the dearest has the same address on all. */
const collectionsOfChain = 17;
const lastCollection = 0x999;

export type TwoChains = {
  readonly url: string;
  /** Gives a token of the chain's last collection to somebody, while pages are open. */
  moves(chainId: ChainId): Promise<void>;
  close(): Promise<void>;
};

/**
 * The pages over chains with collections whose volumes in USD alternate between them, though coins of one are worth
 * thousands of the other's.
 */
export async function openTwoChains(baseUrl: string): Promise<TwoChains> {
  const log = await openProjectedLog(allProjections({ feeRecipient: testFee.recipient }));
  const { db } = log;
  await log.clear();
  await log.appendFacts(chainIds.flatMap(factsOf));
  const sourceOn = (chainId: ChainId) => ({
    ...{ db, chainIds: [chainId], feeRecipient: testFee.recipient },
  });
  const seconds = block(1, lastHeight).timestamp;
  await log.happens(ticked(BigInt(seconds)));
  const context = {
    ...{ db, siteUrl: baseUrl, chains: chainIds, market: openTestMarket(db) },
    readStatus: async () => ({
      ...{ ready: true, failing: [], warnings: [], logPosition: 1, projections: [] },
      chains: chainIds.map(statusOf),
    }),
    now: () => new Date(seconds * 1_000),
  };
  const feeds = new Map(chainIds.map((one) => [one, openFeed({ source: sourceOn(one), logger })]));
  const feedOf = (chainId: ChainId) => feeds.get(chainId);
  const app = createApp({ context, baseUrl, feedOf, logger });
  const listening: Listening = await listen(app, "127.0.0.1", 0);
  return {
    url: `http://127.0.0.1:${listening.port}`,
    async moves(chainId) {
      const contract = addressOf(lastCollection);
      const token = { contract, from: maker, to: buyer, tokenId: 2n };
      await log.happens(transferred(token, { at: block(chainId, lastHeight), log: 1 }));
      feeds.get(chainId)?.notify();
    },
    async close() {
      for (const feed of feeds.values()) await feed.stop();
      await listening.close();
      await log.drop();
    },
  };
}

const head = { number: lastHeight, hash: `0x${"1".repeat(64)}`, timestamp: 1 } as const;
const statusOf = (chainId: ChainId) => ({
  ...{ chainId, head, indexed: head, recorded: head, lagBlocks: 0, lagSeconds: 0 },
  ...{ finalized: { number: 1, saidBy: "tag" as const }, history: null, indexers: [] },
});

function factsOf(chainId: ChainId, place: number): Fact[] {
  const priceE8 = (2_500n * 10n ** 8n) / 5_000n ** BigInt(place);
  const { coin } = chainById(chainId);
  const before = Math.floor(block(chainId, 0).timestamp / 60) * 60_000 - 60_000;
  const coinsOf = (usd: number) => (BigInt(usd) * 10n ** 26n) / priceE8;
  return [
    ...[0, 5, 10, 15].map((minutes) =>
      priceTicked({ coin, minuteMs: before + minutes * 60_000, priceE8, sources: [] }),
    ),
    ...Array.from({ length: collectionsOfChain }, (_, at) =>
      tradesOf(chainId, at, coinsOf(100 * (10 * (at + 1) + place))),
    ).flat(),
  ];
}

/** Two tokens: one is sold, unless it is a third collection, and one is for sale. */
function tradesOf(chainId: ChainId, at: number, unitPriceWei: bigint): Fact[] {
  const isLast = at === collectionsOfChain - 1;
  const contract = addressOf(isLast ? lastCollection : (chainId % 1_000) * 100 + at);
  const terms = { chainId, maker, contract, unitPriceWei, salt: BigInt(at) };
  const [sold, left] = [1n, 2n].map((tokenId) => givenListing({ ...terms, tokenId }));
  if (sold === undefined || left === undefined) throw new Error("no order");
  const opened = block(chainId, 1 + at);
  const after = block(chainId, 20 + 3 * at + (chainId % 5));
  return [
    registered(chainId, contract, `${chainById(chainId).name} ${at + 1}`),
    approval(contract, maker, true, { at: opened, log: 1 }),
    transferred({ contract, to: maker, tokenId: 1n }, { at: opened, log: 2 }),
    transferred({ contract, to: maker, tokenId: 2n }, { at: opened, log: 3 }),
    ...[sold.submitted, left.submitted],
    ...(at % 3 === 2
      ? []
      : [
          filled(sold, 1n, { at: after, log: 1 }, buyer),
          transferred({ contract, from: maker, to: buyer, tokenId: 1n }, { at: after, log: 2 }),
        ]),
  ];
}

function registered(chainId: ChainId, contract: Address, name: string): Observation {
  const slug = name.toLowerCase().replaceAll(" ", "-");
  const identity: Hex = keccak256(stringToHex(`registered ${slug}`));
  return {
    ...({ kind: "collection_registered", chainId, contract, identity } as const),
    recordedAt: new Date(Number(receivedAt) * 1_000),
    payload: { slug, name, verified: false, primary: contract, contracts: [contract] },
  };
}
