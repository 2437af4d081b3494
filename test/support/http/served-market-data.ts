import { type Address, parseEther } from "viem";
import { z } from "zod";
import { coins } from "#chains/coins.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { collectionRegistered } from "#projections/collections/facts.ts";
import { floorSnapshotted, snapshotMs } from "#projections/collections/floors.ts";
import { appendObservations, type Observation } from "#projections/log/append.ts";
import { contractMetadataFetched, tokenMetadataFetched } from "#projections/metadata/facts.ts";
import { priceTicked } from "#projections/prices/coin-prices.ts";
import { rankCollection } from "#projections/traits/rank-collection.ts";
import { readOutdatedRankings } from "#projections/traits/read-outdated-rankings.ts";
import { openTrader } from "../chain/trader.ts";
import type { PartnerOrderBook } from "../orders/partner-order-book-fixture.ts";

export const chainId = 1;
const { punks, editions } = contracts;

/** Ids of orders and of a sale; the signed orders may be submitted again. */
export type MarketIds = {
  ask: string;
  bid: string;
  collectionBid: string;
  partnerAsk: string;
  saleId: string;
  /** Of the sale. */
  txHash: string;
  blockNumber: number;
  signedAsk: unknown;
  signedBid: unknown;
};

const punk = (tokenId: bigint) => ({ standard: "erc721", contract: punks, tokenId }) as const;

/** Names, traits, prices and a floor, as the jobs record them. */
export async function describeTokens({ db, catchUp }: PartnerOrderBook): Promise<void> {
  const recordedAt = new Date();
  const registered = { punks: "Punks", editions: "Editions" } as const;
  const hourMs = 3_600_000;
  const hour = Math.floor(Date.now() / hourMs) * hourMs;
  const takenAtMs = Math.floor(Date.now() / snapshotMs) * snapshotMs;
  const observations: Observation[] = [
    ...Object.entries(registered).map(([slug, name]) => {
      const primary = contracts[slug as keyof typeof registered];
      const payload = { slug, name, verified: true, primary, contracts: [primary] };
      return collectionRegistered({ chainId, primary, payload, replaces: 0n, recordedAt });
    }),
    contractMetadataFetched({ chainId, contract: punks, recordedAt }, "ipfs://punks", {
      name: "Punks",
      description: "Ten thousand faces",
      image: "ipfs://punks/cover.png",
      banner: "https://images.example.test/banner.png",
      website: "https://punks.example.test",
      twitter: "https://x.com/punks",
      discord: "https://discord.example.test/punks",
    }),
    ...Array.from({ length: 40 }, (_, index) => tokenDescribed(BigInt(index), recordedAt)),
    ...coins.flatMap((coin, place) =>
      [3, 2, 1, 0].map((ago) => {
        const priceE8 = BigInt(place === 0 ? 250_000_000_000 : 50_000_000) + BigInt(ago) * 1_000n;
        const sources = [{ name: "exchange", priceE8 }];
        return priceTicked({ coin, minuteMs: hour - ago * hourMs, priceE8, sources });
      }),
    ),
    floorSnapshotted({
      chainId,
      takenAtMs,
      floors: new Map([[punks, parseEther("1")]]),
      base: null,
    }),
  ];
  await appendObservations(db, observations);
  await catchUp();
}

function tokenDescribed(tokenId: bigint, recordedAt: Date): Observation {
  const subject = { chainId, contract: punks, tokenId, recordedAt };
  return tokenMetadataFetched(subject, `ipfs://punks/${tokenId}`, {
    name: `Punk ${tokenId}`,
    description: "A face",
    image: `ipfs://punks/${tokenId}.png`,
    animation: "https://images.example.test/punk.mp4",
    contentType: "image/png",
    attributes: [
      { trait_type: "Fur", value: tokenId % 3n === 0n ? "Gold" : "Brown" },
      { trait_type: "Level", value: Number(tokenId) },
    ],
  });
}

type Sold = Pick<MarketIds, "saleId" | "txHash" | "blockNumber">;

/** A sale of a listing and one of a bid; the ids of the newest. */
export async function trade({ actors, catchUp, api }: PartnerOrderBook): Promise<Sold> {
  const { alice, bob, carol } = actors;
  const nft = punk(1n);
  for (const bidder of [bob, carol]) {
    await bidder.wraps(parseEther("100"));
    await bidder.allows(parseEther("100"));
  }
  await bob.buys(await alice.lists(nft, { priceWei: parseEther("1") }));
  await bob.accepts(await carol.offers(nft, { priceWei: parseEther("2") }));
  await catchUp();
  const { body } = await api.get(`/v1/sales?chainId=${chainId}`);
  const sold = z.object({ saleId: z.string(), txHash: z.string(), blockNumber: z.int() });
  const { data } = z.object({ data: z.array(sold) }).parse(body);
  return data[0] ?? { saleId: "", txHash: "", blockNumber: 0 };
}

/** Listings and bids by the API, and a partner's listing. Punk 7 is bob's, punk 2 alice's. */
export async function fillOrderBook(book: PartnerOrderBook): Promise<Omit<MarketIds, keyof Sold>> {
  const trader = (account: typeof accounts.alice) =>
    openTrader({ baseUrl: book.api.url, chainId, client: book.client, account });
  const [alice, bob, carol] = [accounts.alice, accounts.bob, accounts.carol].map(trader);
  if (!alice || !bob || !carol) throw new Error("three traders are needed");
  const of = (contract: Address, tokenId: bigint, ether: string) => ({
    ...{ contract, tokenId, unitPriceWei: parseEther(ether) },
  });
  const ask = await alice.lists(of(punks, 2n, "1"));
  await alice.lists({ ...of(editions, 1n, "0.1"), quantity: 5n });
  const bid = await carol.bids(of(punks, 2n, "0.5"));
  const collectionBid = await bob.bids({ contract: punks, unitPriceWei: parseEther("0.25") });
  const { askId: partnerAsk } = await book.shows(book.opensea, {
    ...{ maker: accounts.alice, nft: punk(3n), priceWei: parseEther("2") },
  });
  const signedAsk = await alice.sign(await alice.compose(of(punks, 4n, "3")));
  const signedBid = await carol.sign(await carol.compose(of(punks, 4n, "0.4"), "item"));
  for (const { collectionId } of await readOutdatedRankings(book.db)) {
    await rankCollection(book.db, collectionId);
  }
  return { ask, bid, collectionBid, partnerAsk, signedAsk, signedBid };
}
