import type { Address } from "viem";

/** A price and the fees deducted from it. `unitPriceWei` and `royaltyWei` are per unit. */
export type Price = {
  unitPriceWei: bigint;
  fee: { recipient: Address; bps: number };
  /** ERC-2981's or a marketplace's creator fee; `null` or 0 wei leaves the leg out. */
  royalty: { recipient: Address; royaltyWei: bigint } | null;
};

export type Leg = { recipient: Address; unitWei: bigint };

/** Wei per unit: the service fee rounds down; the seller receives the rest. */
export function priceLegs(price: Price): { sellerNetWei: bigint; feeLegs: readonly Leg[] } {
  const feeWei = (price.unitPriceWei * BigInt(price.fee.bps)) / 10_000n;
  const royaltyWei = price.royalty?.royaltyWei ?? 0n;
  const feeLegs = [
    { recipient: price.fee.recipient, unitWei: feeWei },
    ...(price.royalty === null
      ? []
      : [{ recipient: price.royalty.recipient, unitWei: royaltyWei }]),
  ];
  return {
    sellerNetWei: price.unitPriceWei - feeWei - royaltyWei,
    // Seaport refuses items of amount 0 (MissingItemAmount).
    feeLegs: feeLegs.filter((leg) => leg.unitWei > 0n),
  };
}
