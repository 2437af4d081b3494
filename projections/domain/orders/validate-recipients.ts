import type { IntakeCode } from "../intake/intake-codes.ts";
import { rejectField } from "../intake/reject-field.ts";
import type { Rejection } from "../rejection.ts";
import type { OrderComponents } from "../seaport/order-components.ts";
import { isNft } from "./order-shape.ts";
import type { TradeTerms } from "./trade-terms.ts";

/** What the maker receives, the service fee and the royalty. */
const maxItems = 3;

/**
 * The first item is what the maker receives: a seller's payment, or a bidder's NFT. The recipients
 * of the other items are validated with the fees.
 */
export function validateRecipients(
  { offerer, consideration }: OrderComponents,
  side: TradeTerms["side"],
): Rejection<IntakeCode> | null {
  const unpaid = consideration.findIndex(({ recipient }) => BigInt(recipient) === 0n);
  if (unpaid >= 0) {
    const actual = `${consideration[unpaid]?.recipient}`;
    return refuse(`[${unpaid}].recipient`, "an address other than zero", actual);
  }
  const [first] = consideration;
  if (side === "bid" && first !== undefined && !isNft(first)) {
    return refuse(
      "[0].itemType",
      "an NFT type, as the NFT must be the first item",
      `${first.itemType}`,
    );
  }
  if (first?.recipient !== offerer) {
    const received = side === "ask" ? "the seller's payment" : "the NFT";
    return refuse(
      "[0].recipient",
      `the offerer ${offerer}, as ${received} must be the first item`,
      `${first?.recipient}`,
    );
  }
  if (consideration.length > maxItems) {
    const expected = `at most ${maxItems} items: the maker's, the service fee and the royalty`;
    return refuse("", expected, `${consideration.length} items`);
  }
  return null;
}

function refuse(path: string, expected: string, actual: string) {
  const field = `parameters.consideration${path}`;
  return rejectField("unexpected_consideration", { field, expected, actual });
}
