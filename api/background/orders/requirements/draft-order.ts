import { type Address, zeroAddress } from "viem";
import type { MarketTerms, TradeFee, TradeTerms } from "#projections/domain/orders/order-terms.ts";
import type { Royalty } from "#projections/domain/royalty.ts";
import { bidComponents, listingComponents, type Price, priceLegs } from "#projections/domain/seaport/draft-components.ts";
import type { OrderComponents } from "#projections/domain/seaport/order-components.ts";

/** What a maker wants to sell or buy, and the price per unit. */
export type OrderIntent = Pick<
  TradeTerms,
  "side" | "contract" | "standard" | "tokenId" | "quantity" | "unitPriceWei"
> & {
  /** Null: unknown; the order then holds the zero address as a placeholder. */
  maker: Address | null;
};

/** The order without the values its maker chooses: times, salt and an unknown counter are 0. */
export function draftOrder(
  intent: OrderIntent,
  terms: MarketTerms,
  royalty: Royalty | null,
  counter = 0n,
): OrderComponents {
  const { contract, standard, tokenId, quantity } = intent;
  const maker = intent.maker ?? zeroAddress;
  const placeholders = { maker, startTime: 0n, endTime: 0n, salt: 0n, counter };
  const price = priceOf(intent.unitPriceWei, terms, royalty);
  if (intent.side === "bid") {
    const nft =
      tokenId === null ? { standard, contract, criteria: 0n } : { standard, contract, tokenId };
    return bidComponents({ ...placeholders, nft, quantity, price, currency: terms.currency });
  }
  if (tokenId === null) throw new TypeError("A listing is of one token");
  return listingComponents({
    ...placeholders,
    nft: { standard, contract, tokenId },
    quantity,
    price,
  });
}

/** Wei per unit: the fees deducted from a price, and the seller's net. */
export type PriceSplit = { sellerNetWei: bigint; fees: readonly TradeFee[] };

export function splitPrice(
  unitPriceWei: bigint,
  terms: MarketTerms,
  royalty: Royalty | null,
): PriceSplit {
  const { sellerNetWei, feeLegs } = priceLegs(priceOf(unitPriceWei, terms, royalty));
  const services = feeLegs.length - (royalty !== null && royalty.royaltyWei > 0n ? 1 : 0);
  const fees = feeLegs.map((leg, index) => ({
    ...leg,
    kind: index < services ? ("service" as const) : ("royalty" as const),
  }));
  return { sellerNetWei, fees };
}

function priceOf(unitPriceWei: bigint, { fee }: MarketTerms, royalty: Royalty | null): Price {
  return { unitPriceWei, fee, royalty };
}
