import type { Rejection } from "../rejection.ts";
import type { OrderComponents } from "../seaport/order-components.ts";
import type { IntakeCode } from "./intake-codes.ts";
import { isNft } from "./order-shape.ts";
import { refuseField } from "./refuse-field.ts";
import type { TradeTerms } from "./trade-terms.ts";

/** What the maker receives, the service fee and the royalty. */
const mostItems = 3;

/**
 * What the maker receives stands first: a seller's payment, or the NFT of a bidder. Whether the
 * other items are paid to the right addresses is judged with the fees.
 */
export function judgeRecipients(
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
    return refuse("[0].itemType", "that of the NFT, which stands first", `${first.itemType}`);
  }
  if (first?.recipient !== offerer) {
    const received = side === "ask" ? "the seller's payment" : "the NFT";
    return refuse(
      "[0].recipient",
      `the offerer ${offerer}, as ${received} stands first`,
      `${first?.recipient}`,
    );
  }
  if (consideration.length > mostItems) {
    const expected = `at most ${mostItems} items: the maker's, the service fee and the royalty`;
    return refuse("", expected, `${consideration.length} items`);
  }
  return null;
}

function refuse(path: string, expected: string, actual: string) {
  const field = `parameters.consideration${path}`;
  return refuseField("unexpected_consideration", { field, expected, actual });
}
