import { type Address, zeroAddress } from "viem";
import type { MarketTerms } from "../../../../projections/domain/orders/market-terms.ts";
import type { TradeFee, TradeTerms } from "../../../../projections/domain/orders/trade-terms.ts";
import type { Royalty } from "../../../../projections/domain/royalty.ts";
import { bidComponents } from "../../../../projections/domain/seaport/bid-components.ts";
import { listingComponents } from "../../../../projections/domain/seaport/listing-components.ts";
import type { OrderComponents } from "../../../../projections/domain/seaport/order-components.ts";
import { type Price, priceLegs } from "../../../../projections/domain/seaport/price-legs.ts";

/** What a maker would sell or buy, and for how much a unit. */
export type Wish = Pick<
  TradeTerms,
  "side" | "contract" | "standard" | "tokenId" | "quantity" | "unitPriceWei"
> & {
  /** Null while nobody is named: the zero address stands where the maker's belongs. */
  maker: Address | null;
};

/** What is left to its maker stays open: times, salt and, where it is not told, the counter are 0. */
export function draftOrder(
  wish: Wish,
  terms: MarketTerms,
  royalty: Royalty | null,
  counter = 0n,
): OrderComponents {
  const { contract, standard, tokenId, quantity } = wish;
  const maker = wish.maker ?? zeroAddress;
  const open = { maker, startTime: 0n, endTime: 0n, salt: 0n, counter };
  const price = priceOf(wish.unitPriceWei, terms, royalty);
  if (wish.side === "bid") {
    const wanted =
      tokenId === null ? { standard, contract, criteria: 0n } : { standard, contract, tokenId };
    return bidComponents({ ...open, wanted, quantity, price, currency: terms.currency });
  }
  if (tokenId === null) throw new TypeError("A listing is of one token");
  return listingComponents({ ...open, nft: { standard, contract, tokenId }, quantity, price });
}

/** Wei per unit: who is paid out of a price, and what that leaves to the seller. */
export type Division = { sellerNetWei: bigint; fees: readonly TradeFee[] };

export function divide(
  unitPriceWei: bigint,
  terms: MarketTerms,
  royalty: Royalty | null,
): Division {
  const { sellerNetWei, taken } = priceLegs(priceOf(unitPriceWei, terms, royalty));
  const services = taken.length - (royalty !== null && royalty.royaltyWei > 0n ? 1 : 0);
  const fees = taken.map((leg, index) => ({
    ...leg,
    kind: index < services ? ("service" as const) : ("royalty" as const),
  }));
  return { sellerNetWei, fees };
}

function priceOf(unitPriceWei: bigint, { fee }: MarketTerms, royalty: Royalty | null): Price {
  return { unitPriceWei, fee, royalty };
}
