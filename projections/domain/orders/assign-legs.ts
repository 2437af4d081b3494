import type { Leg } from "../seaport/price-legs.ts";
import type { TradeFee } from "./trade-terms.ts";

/** A fee leg as signed; `index` is its position among the legs not paid to the seller. */
export type IndexedLeg = Leg & { index: number };

/** Ways in which a leg matches an expected fee, best match first; the last one takes any leg in order. */
const matchers: readonly ((fee: TradeFee, leg: Leg) => boolean)[] = [
  (fee, leg) => fee.recipient === leg.recipient && fee.unitWei === leg.unitWei,
  (fee, leg) => fee.recipient === leg.recipient,
  () => true,
];

/** Assigns legs to expected fees, so that a rejection names the leg that is wrong. */
export function assignLegs(expectedFees: readonly TradeFee[], legs: readonly Leg[]) {
  const surplus: IndexedLeg[] = legs.map((leg, index) => ({ ...leg, index }));
  const paid = new Map<TradeFee["kind"], IndexedLeg>();
  for (const matches of matchers) {
    for (const fee of expectedFees) {
      const at = paid.has(fee.kind) ? -1 : surplus.findIndex((leg) => matches(fee, leg));
      const [leg] = at < 0 ? [] : surplus.splice(at, 1);
      if (leg !== undefined) paid.set(fee.kind, leg);
    }
  }
  return { paid, surplus };
}
