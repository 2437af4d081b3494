import type { Leg } from "../seaport/price-legs.ts";
import type { TradeFee } from "./trade-terms.ts";

/** A leg as signed; `index` is its place among those that others than the seller are paid. */
export type TakenLeg = Leg & { index: number };

/** How surely a leg is meant for a due, surest first; what is left over goes by position. */
const signs: readonly ((due: TradeFee, leg: Leg) => boolean)[] = [
  (due, leg) => due.recipient === leg.recipient && due.unitWei === leg.unitWei,
  (due, leg) => due.recipient === leg.recipient,
  () => true,
];

/** Which leg pays which due, so that a refusal names the one that is wrong and not its neighbour. */
export function assignLegs(dues: readonly TradeFee[], legs: readonly Leg[]) {
  const surplus: TakenLeg[] = legs.map((leg, index) => ({ ...leg, index }));
  const paid = new Map<TradeFee["kind"], TakenLeg>();
  for (const isMeant of signs) {
    for (const due of dues) {
      const at = paid.has(due.kind) ? -1 : surplus.findIndex((leg) => isMeant(due, leg));
      const [leg] = at < 0 ? [] : surplus.splice(at, 1);
      if (leg !== undefined) paid.set(due.kind, leg);
    }
  }
  return { paid, surplus };
}
