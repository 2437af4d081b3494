import { type Hex, numberToHex } from "viem";
import { type ChainId, seaport } from "../../../../abis/deployments.ts";
import { isRejection, reject } from "../../../../projections/domain/rejection.ts";
import type {
  OfferItem,
  OrderComponents,
} from "../../../../projections/domain/seaport/order-components.ts";
import { orderHash } from "../../../../projections/domain/seaport/order-hash.ts";
import { parseAnswer } from "../parse-answer.ts";
import type { Partner } from "../partner.ts";
import type { Transport } from "../transport.ts";
import { chainNames } from "./chain-names.ts";
import { refusalOf } from "./fetch-fulfillment.ts";
import { PostedAnswer } from "./shapes.ts";

const refusals = [400, 404, 409, 422];

/** Posts a signed listing. One that is there already counts as posted. */
export async function postListing(
  transport: Transport,
  chainId: ChainId,
  { components, signature }: { components: OrderComponents; signature: Hex },
): ReturnType<NonNullable<Partner["postListing"]>> {
  const answer = await transport.ask({
    method: "POST",
    path: `/api/v2/orders/${chainNames[chainId]}/seaport/listings`,
    body: {
      parameters: wireOrder(components),
      protocol_address: seaport["1.6"],
      signature,
    },
    budget: "act",
  });
  const own = orderHash(components);
  const posted = parseAnswer(answer, PostedAnswer, refusals);
  if (posted === null) {
    const refusal = refusalOf(answer);
    return isDuplicate(refusal, own) ? { orderHash: own } : reject("partner_rejected", refusal);
  }
  if (isRejection(posted)) return posted;
  return posted === own
    ? { orderHash: own }
    : reject("upstream_error", `OpenSea answers with ${posted} to ${own}`);
}

const isDuplicate = (refusal: string, hash: Hex) =>
  /duplicate order/i.test(refusal) && refusal.toLowerCase().includes(hash);

function wireOrder({ offer, consideration, ...rest }: OrderComponents) {
  return {
    ...rest,
    offer: offer.map(wireItem),
    consideration: consideration.map((item) => ({ ...item, ...wireItem(item) })),
    startTime: `${rest.startTime}`,
    endTime: `${rest.endTime}`,
    salt: numberToHex(rest.salt, { size: 32 }),
    counter: `${rest.counter}`,
    totalOriginalConsiderationItems: consideration.length,
  };
}

function wireItem(item: OfferItem) {
  return {
    itemType: item.itemType,
    token: item.token,
    identifierOrCriteria: `${item.identifierOrCriteria}`,
    startAmount: `${item.startAmount}`,
    endAmount: `${item.endAmount}`,
  };
}
