import type { Address } from "viem";
import type { ChainId } from "../../abis/deployments.ts";

/** A share of a collection's prices. */
type CreatorFee = { recipient: Address; bps: number };

export type RoyaltySources = {
  /** What a partner marketplace takes for the creator. */
  partner: CreatorFee | null;
  /** The contract's own answer for the price of one unit. ERC-2981 `royaltyInfo`. */
  erc2981: { recipient: Address; royaltyWei: bigint } | null;
  /** Heeded on Ethereum alone. */
  configured: CreatorFee | null;
};

export type Royalty = {
  /** In lower case. */
  recipient: Address;
  /** Per unit. */
  royaltyWei: bigint;
  source: keyof RoyaltySources;
};

/**
 * The creator's part of the price of one unit: the partner's creator fee, else the contract's own,
 * else the configured one. A source that names nobody or nothing is passed over, and null is
 * returned when all are. Shares round down; a royalty of the whole price and more is left to be
 * judged with the service fee.
 */
export function applicableRoyalty(
  chainId: ChainId,
  unitPriceWei: bigint,
  { partner, erc2981, configured }: RoyaltySources,
): Royalty | null {
  const shareOf = (fee: CreatorFee | null) =>
    fee && { recipient: fee.recipient, royaltyWei: (unitPriceWei * BigInt(fee.bps)) / 10_000n };
  const offered = [
    { source: "partner", royalty: shareOf(partner) },
    { source: "erc2981", royalty: erc2981 },
    { source: "configured", royalty: chainId === 1 ? shareOf(configured) : null },
  ] as const;
  for (const { source, royalty } of offered) {
    if (royalty === null || royalty.royaltyWei <= 0n || BigInt(royalty.recipient) === 0n) continue;
    const recipient = royalty.recipient.toLowerCase() as Address;
    return { recipient, royaltyWei: royalty.royaltyWei, source };
  }
  return null;
}
