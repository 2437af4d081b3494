import type { Address } from "viem";
import { type ChainId, chainById } from "#chains/index.ts";

/** A creator's share of a collection's prices. */
type CreatorFee = { recipient: Address; bps: number };

export type RoyaltySources = {
  /** What an operator decided, over all other sources. */
  operator: CreatorFee | null;
  /** The creator fee that a partner marketplace requires. */
  partner: CreatorFee | null;
  /** ERC-2981 `royaltyInfo` of the contract, for the price of one unit. */
  erc2981: { recipient: Address; royaltyWei: bigint } | null;
  /** Used on chains that have them. */
  configured: CreatorFee | null;
};

export type Royalty = {
  /** In lower case. */
  recipient: Address;
  /** Per unit. */
  royaltyWei: bigint;
  source: "partner" | "erc2981" | "configured";
};

/**
 * Royalty of one unit's price: what an operator decided, none included; else the partner's creator fee, else the contract's own, else the configured one. A source
 * without recipient or amount is skipped; null when all are. Shares round down. A royalty of the whole price or more is
 * rejected later, with the service fee.
 */
export function applicableRoyalty(
  chainId: ChainId,
  unitPriceWei: bigint,
  { operator, partner, erc2981, configured }: RoyaltySources,
): Royalty | null {
  const shareOf = (fee: CreatorFee | null) =>
    fee && { recipient: fee.recipient, royaltyWei: (unitPriceWei * BigInt(fee.bps)) / 10_000n };
  if (operator !== null) return payable("configured", shareOf(operator));
  const hasConfigured = chainById(chainId).hasConfiguredRoyalties;
  const candidates = [
    { source: "partner", royalty: shareOf(partner) },
    { source: "erc2981", royalty: erc2981 },
    { source: "configured", royalty: hasConfigured ? shareOf(configured) : null },
  ] as const;
  for (const { source, royalty } of candidates) {
    const due = payable(source, royalty);
    if (due !== null) return due;
  }
  return null;
}

function payable(
  source: Royalty["source"],
  royalty: { recipient: Address; royaltyWei: bigint } | null,
): Royalty | null {
  if (royalty === null || royalty.royaltyWei <= 0n || BigInt(royalty.recipient) === 0n) return null;
  const recipient = royalty.recipient.toLowerCase() as Address;
  return { recipient, royaltyWei: royalty.royaltyWei, source };
}
