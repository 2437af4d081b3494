import type { Hex } from "viem";
import { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import { readCollectionOfContracts } from "#projections/collections/read-collection-of-contracts.ts";
import { readCollections } from "#projections/collections/read-collections.ts";
import { profitOfTrades } from "#projections/domain/trade-profit.ts";
import type { Database } from "#projections/log/database.ts";
import { readWalletTrades, type WalletTrade } from "#projections/sales/read-wallet-trades.ts";
import { readHeldContracts } from "#projections/tokens/read-holders.ts";
import { route } from "./context.ts";
import { chainId, chainRefusals, wallet } from "./parameters.ts";
import { uint256Text } from "./wire.ts";

/** Contracts that are valued, and purchases and sales, each, of which a profit is made. */
const [mostContracts, mostTrades] = [500, 10_000];

const count = z.int().min(0);

export const WalletSummary = z
  .object({
    holdings: z
      .object({
        contracts: count,
        tokens: uint256Text.meta({ description: "Token ids." }),
        units: uint256Text,
        floorWei: uint256Text.meta({
          description: "Each unit at its collection's floor, where there is one.",
        }),
        offersWei: uint256Text.meta({
          description: "Each at the most that an offer on its collection leaves a seller.",
        }),
        truncated: z.boolean(),
      })
      .meta({ description: `Of the first ${mostContracts} contracts: \`truncated\`.` }),
    trades: z
      .object({
        purchases: count,
        sales: count,
        spentWei: uint256Text,
        earnedWei: uint256Text.meta({ description: "After fees: cost, profit and unbought." }),
        costWei: uint256Text.meta({ description: "Of units that were bought and sold." }),
        profitWei: z.string().meta({ description: "May be negative." }),
        unboughtWei: uint256Text.meta({ description: "Of units that were not bought." }),
        wash: count,
        otherCurrencies: count,
      })
      .nullable()
      .meta({
        description: `In the coin or its wrapped form, first in, first out, by sales alone; wash trades and other currencies are only counted. null: over ${mostTrades} purchases or sales.`,
      }),
  })
  .meta({ id: "WalletSummary" });

type Summary = z.output<typeof WalletSummary>;

export const walletSummary = route(
  {
    method: "get",
    path: "/v1/wallets/{wallet}/summary",
    operationId: "getWalletSummary",
    tag: "Wallets",
    loadClass: "lists",
    summary: "What a wallet holds is worth, and what its trades earned",
    params: z.object({ wallet }),
    query: z.object({ chainId }),
    data: WalletSummary,
    refuses: chainRefusals,
    isCacheable: true,
  },
  async ({ params: { wallet }, query: { chainId } }, { db, now }) => {
    const owner = { chainId, wallet };
    const [holdings, trades] = await Promise.all([
      valueHoldings(db, owner, now()),
      readWalletTrades(db, owner, mostTrades),
    ]);
    return { data: { holdings, trades: trades && presentTrades(trades) } };
  },
);

async function valueHoldings(
  db: Database,
  owner: { chainId: ChainId; wallet: Hex },
  now: Date,
): Promise<Summary["holdings"]> {
  const found = await readHeldContracts(db, owner, { limit: mostContracts + 1, after: 0 });
  const held = found.slice(0, mostContracts);
  const collectionOf = await readCollectionOfContracts(
    db,
    held.map(({ contractId }) => contractId),
  );
  const ids = [...new Set(collectionOf.values())];
  const rows = await readCollections(db, ids, now, new Set(["orders"]));
  const prices = new Map(rows.map((row) => [row.collectionId, row]));
  const sum = { tokens: 0n, units: 0n, floorWei: 0n, offersWei: 0n };
  for (const { contractId, tokens, units } of held) {
    const priced = prices.get(collectionOf.get(contractId) ?? -1);
    sum.tokens += tokens;
    sum.units += units;
    sum.floorWei += units * BigInt(priced?.floor?.priceWei ?? 0);
    sum.offersWei += units * BigInt(priced?.bestOffer?.sellerNetWei ?? 0);
  }
  return {
    contracts: held.length,
    tokens: String(sum.tokens),
    units: String(sum.units),
    floorWei: String(sum.floorWei),
    offersWei: String(sum.offersWei),
    truncated: found.length > held.length,
  };
}

/** Wash trades, and those in currencies whose worth is not known, are no part of the sums. */
function presentTrades(all: readonly WalletTrade[]): NonNullable<Summary["trades"]> {
  const counted = all.filter(({ isWash, isInCoin }) => isInCoin && !isWash);
  const { spent, earned, cost, profit, unbought } = profitOfTrades(counted);
  const purchases = counted.filter(({ isPurchase }) => isPurchase).length;
  const wash = all.filter(({ isWash }) => isWash).length;
  return {
    ...{ purchases, sales: counted.length - purchases },
    ...{ spentWei: String(spent), earnedWei: String(earned), costWei: String(cost) },
    ...{ profitWei: String(profit), unboughtWei: String(unbought) },
    ...{ wash, otherCurrencies: all.length - counted.length - wash },
  };
}
