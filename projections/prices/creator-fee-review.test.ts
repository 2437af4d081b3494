import fc from "fast-check";
import { expect, it } from "vitest";
import {
  type CreatorFee,
  defaultFeeLimits,
  type HeldReason,
  reviewFees,
} from "../domain/royalty.ts";

const creator = "0x00000000000000000000000000000000000000a1";
const other = "0x00000000000000000000000000000000000000b2";
const fee = (bps: number, recipient: CreatorFee["recipient"] = creator, isRequired = true) => [
  { recipient, bps, isRequired },
];

it.each<[string, HeldReason | null, CreatorFee[], CreatorFee[] | null, boolean]>([
  ["a first fee up to the cap", null, fee(1_000), null, true],
  ["a first fee above the cap", "above_cap", fee(1_001), null, true],
  ["98 %", "above_cap", fee(9_800), fee(500), true],
  ["an optional fee", null, fee(9_800, creator, false), null, true],
  ["a small change", null, fee(750), fee(500), true],
  ["a large raise", "large_change", fee(751), fee(500), true],
  ["a large cut", "large_change", [], fee(500), true],
  ["a first fee after none", "large_change", fee(500), [], true],
  ["another recipient", "other_recipient", fee(500, other), fee(500), true],
  ["a contract of another collection", "not_its_contract", fee(500), fee(500), false],
  ["a contract of another collection without fee", null, [], null, false],
])("of a partner's word, %s is held for: %s", (_, reason, fees, inForce, isMember) => {
  const review = reviewFees({ fees, inForce, isMember }, defaultFeeLimits);
  expect(review).toEqual(reason === null ? { state: "in_force" } : { state: "held", reason });
});

it("no sequence of a partner's words exceeds the cap or pays another recipient by itself", () => {
  const some = fc.record({
    recipient: fc.constantFrom<CreatorFee["recipient"]>(creator, other),
    bps: fc.integer({ min: 0, max: 10_000 }),
    isRequired: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(fc.array(some, { maxLength: 3 }), { maxLength: 8 }), (words) => {
      let inForce: CreatorFee[] | null = null;
      for (const fees of words) {
        const review = reviewFees({ fees, inForce, isMember: true }, defaultFeeLimits);
        if (review.state !== "in_force") continue;
        const total = fees.filter((one) => one.isRequired).reduce((sum, { bps }) => sum + bps, 0);
        expect(total).toBeLessThanOrEqual(1_000);
        inForce = fees;
      }
    }),
  );
});
