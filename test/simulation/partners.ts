import { concatHex, keccak256, toHex } from "viem";
import { contractRoyaltyStated, operatorRoyaltyStated } from "#projections/collections/facts.ts";
import { partnerNames } from "#projections/domain/partners.ts";
import type { FeeReview } from "#projections/domain/royalty.ts";
import type { Observation } from "#projections/log/append.ts";
import {
  crossListingAnswered,
  crossListingSubmitted,
} from "#projections/partners/cross-listings.ts";
import { creatorFeeRead } from "#projections/partners/sync-fees.ts";
import type { Block } from "../support/database/given.ts";
import { type GivenOrder, type givenListing, receivedAt } from "../support/orders/order-facts.ts";
import {
  givenPartnerOrder,
  partnerListingOf,
  partnerSignature,
  seen,
  withdrawn,
  zeroConduit,
} from "../support/orders/partner-orders.ts";
import { feeRecipient } from "./events.ts";
import type { Random } from "./random.ts";

/** Makes listings as partners have them. */
export function someElsewhere(random: Random): typeof givenListing {
  return (terms) =>
    givenPartnerOrder({
      ...terms,
      isWrapped: random.chance(0.3),
      ...(random.chance(0.3) && { conduitKey: zeroConduit }),
      ...(random.chance(0.3) && { orderType: 2 as const }),
    });
}

/** A partner shows an order or shows it no longer; either of them, any order, and in any sequence. */
export function someSighting(random: Random, order: GivenOrder): Observation[] {
  const signature = random.chance(0.5) ? partnerSignature : null;
  const listing = partnerListingOf(random.pick(partnerNames), order, signature);
  const sighting = {
    generation: random.int(0, 2),
    at: receivedAt + BigInt(random.int(0, 60)),
  };
  return [random.pick([seen, seen, withdrawn])(listing, sighting)];
}

/** The maker of a listing signs it for a partner too, or a partner answers, in any order and repeatedly. */
export function someCrossListing(random: Random, order: GivenOrder): Observation[] {
  const { chainId, orderHash, components, terms } = order;
  const marketplace = random.pick(partnerNames);
  const partnerOrderHash = keccak256(concatHex([orderHash, toHex(random.int(0, 1))]));
  const crossListing = {
    marketplace,
    chainId,
    contract: terms.contract,
    orderHash,
    partnerOrderHash,
  };
  const at = new Date(Number(receivedAt) * 1_000);
  const rejected = { status: "rejected", code: "partner_rejected", message: "no" } as const;
  return random.pick([
    [
      crossListingSubmitted({
        ...crossListing,
        components,
        signature: partnerSignature,
        receivedAt: at,
      }),
    ],
    [crossListingAnswered(crossListing, random.pick([{ status: "posted" }, rejected]), at)],
  ]);
}

/** A marketplace tells what it takes for creators of a contract. */
export function someFee(random: Random, { chainId, terms }: GivenOrder, turn: number): Observation {
  const fee = {
    recipient: feeRecipient,
    bps: random.int(1, 1_000),
    isRequired: random.chance(0.5),
  };
  const review = random.pick<FeeReview | undefined>([
    ...[undefined, { state: "in_force" as const }, { state: "accepted" as const }],
    { state: "held", reason: "large_change" },
  ]);
  return creatorFeeRead({
    ...(review && { review }),
    ...{ chainId, contract: terms.contract, marketplace: random.pick(partnerNames) },
    fees: random.chance(0.2) ? [] : [fee],
    change: turn,
    readAt: new Date(1_800_000_000_000 + turn * 1_000),
  });
}

/** A contract states its royalty at a block, or an operator decides one or withdraws it. */
export function someRoyalty(
  random: Random,
  { chainId, terms: { contract } }: GivenOrder,
  at: Block | null,
  turn: number,
): Observation[] {
  const isNone = random.chance(0.3);
  const royalty = { recipient: isNone ? null : feeRecipient, bps: isNone ? 0 : random.int(1, 900) };
  if (at === null || random.chance(0.3)) {
    const decided = random.chance(0.3) ? null : royalty;
    const decidedAt = new Date(1_800_000_000_000 + turn * 1_000);
    return [operatorRoyaltyStated({ chainId, contract, royalty: decided, at: decidedAt })];
  }
  const timestamp = new Date(at.timestamp * 1_000);
  const basis = { number: BigInt(at.number), hash: at.hash, timestamp };
  return [contractRoyaltyStated({ chainId, contract, royalty, basis })];
}
