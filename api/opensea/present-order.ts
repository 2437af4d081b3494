import type { Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import { chainNameAt } from "#chains/partners.ts";
import type { Database } from "#projections/log/database.ts";
import { readMarketplaceOrders } from "#projections/orders/read-signed-orders.ts";
import { presentOrder } from "../v1/orders/signed-order.ts";

/** What is shown of an order of either side, of `/v1`'s fields. */
type ShownOrder = {
  readonly orderHash: string;
  readonly status: string;
  readonly priceWei: string;
  readonly currency: { readonly symbol: string | null };
  readonly quantityRemaining: number;
  readonly createdAt: string;
  readonly protocol: { readonly address: string };
};

/** Those of the orders whose signed form is known, as the original shows them. */
export async function presentOrders(
  db: Database,
  chainId: ChainId,
  side: "listing" | "offer",
  rows: readonly ShownOrder[],
): Promise<Record<string, unknown>[]> {
  const hashes = rows.map(({ orderHash }) => orderHash as Hex);
  const signed = await readMarketplaceOrders(db, chainId, hashes);
  return rows.flatMap((row) => {
    const order = signed.get(row.orderHash as Hex);
    if (order === undefined) return [];
    const price = priceOf(row);
    const parameters = {
      ...presentOrder(order.components),
      counter: String(order.components.counter),
      totalOriginalConsiderationItems: order.components.consideration.length,
    };
    return {
      order_hash: row.orderHash,
      chain: chainNameAt("opensea", chainId),
      protocol_address: row.protocol.address,
      protocol_data: { parameters, signature: order.signature },
      // Its client takes what has no type for an offer.
      ...(side === "listing" ? { type: "basic", price: { current: price } } : { price }),
      remaining_quantity: row.quantityRemaining,
      status: row.status.toUpperCase(),
      order_created_at: Math.floor(Date.parse(row.createdAt) / 1_000),
    };
  });
}

/** The decimals of native and wrapped currencies; the market has no others. */
export const decimals = 18;

const priceOf = ({ priceWei, currency, quantityRemaining }: ShownOrder) => ({
  currency: currency.symbol ?? "",
  decimals,
  value: String(BigInt(priceWei) * BigInt(quantityRemaining)),
});
