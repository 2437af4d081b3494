import type { Observation } from "../../projections/log/append.ts";
import { partnerNames } from "../../projections/orders/partner-listing.ts";
import { type GivenOrder, type givenListing, receivedAt } from "../order-facts.ts";
import {
  givenElsewhere,
  partnerSignature,
  seen,
  shownBy,
  withdrawn,
  zeroConduit,
} from "../partner-orders.ts";
import type { Random } from "./random.ts";

/** Makes listings as partners have them. */
export function someElsewhere(random: Random): typeof givenListing {
  return (terms) =>
    givenElsewhere({
      ...terms,
      isWrapped: random.chance(0.3),
      ...(random.chance(0.3) && { conduitKey: zeroConduit }),
      ...(random.chance(0.3) && { orderType: 2 as const }),
    });
}

/** A partner shows an order or shows it no longer; either of them, any order, and in any sequence. */
export function someSighting(random: Random, order: GivenOrder): Observation[] {
  const signature = random.chance(0.5) ? partnerSignature : null;
  const listing = shownBy(random.pick(partnerNames), order, signature);
  const sighting = {
    generation: random.int(0, 2),
    at: receivedAt + BigInt(random.int(0, 60)),
  };
  return [random.pick([seen, seen, withdrawn])(listing, sighting)];
}
