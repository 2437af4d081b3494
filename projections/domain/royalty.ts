import type { Address } from "viem";
import { type ChainId, chainById } from "#chains/index.ts";

/** A creator's share of a collection's prices. */
type FeeShare = { recipient: Address; bps: number };

export type RoyaltySources = {
  /** What an operator decided, over all other sources. */
  operator: FeeShare | null;
  /** The creator fee that a partner marketplace requires. */
  partner: FeeShare | null;
  /** ERC-2981 `royaltyInfo` of the contract, for the price of one unit. */
  erc2981: { recipient: Address; royaltyWei: bigint } | null;
  /** Used on chains that have them. */
  configured: FeeShare | null;
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
  const shareOf = (fee: FeeShare | null) =>
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

/** What a partner says that it pays to a creator, as a share of the price. */
export type CreatorFee = { recipient: Address; bps: number; isRequired: boolean };

/** Why a partner's word waits for an operator. */
export type HeldReason = "not_its_contract" | "above_cap" | "large_change" | "other_recipient";

/** `accepted` and `refused` are an operator's decisions about a held one. */
export type FeeReview =
  | { state: "in_force" | "accepted" | "refused" }
  | { state: "held"; reason: HeldReason };

/** In hundredths of a percent of the price. */
export type FeeLimits = {
  /** The most that a partner may set. */
  maxBps: number;
  /** The largest change of a fee in force. */
  maxChangeBps: number;
};

export const defaultFeeLimits: FeeLimits = { maxBps: 1_000, maxChangeBps: 250 };

/** The required fees as one share, paid to the largest recipient, of equals the first. */
function requiredShare(fees: readonly CreatorFee[]): { recipient: Address | null; bps: number } {
  const required = fees.filter(({ isRequired, bps }) => isRequired && bps > 0);
  const [first] = required.toSorted((one, other) => other.bps - one.bps);
  return {
    recipient: first?.recipient ?? null,
    bps: required.reduce((sum, { bps }) => sum + bps, 0),
  };
}

type ReviewedFees = {
  fees: readonly CreatorFee[];
  /** Null: none was recorded before. */
  inForce: readonly CreatorFee[] | null;
  /** Whether the partner's collection contains the contract. */
  isMember: boolean;
};

/** Whether a partner's word takes effect by itself: sellers pay what it says, and it says who is paid. */
export function reviewFees(
  { fees, inForce, isMember }: ReviewedFees,
  { maxBps, maxChangeBps }: FeeLimits,
): FeeReview {
  const due = requiredShare(fees);
  const held = (reason: HeldReason): FeeReview => ({ state: "held", reason });
  if (due.bps > 0 && !isMember) return held("not_its_contract");
  if (due.bps > maxBps) return held("above_cap");
  if (inForce === null) return { state: "in_force" };
  const before = requiredShare(inForce);
  if (Math.abs(due.bps - before.bps) > maxChangeBps) return held("large_change");
  const isRedirected = due.bps > 0 && before.bps > 0 && due.recipient !== before.recipient;
  return isRedirected ? held("other_recipient") : { state: "in_force" };
}
