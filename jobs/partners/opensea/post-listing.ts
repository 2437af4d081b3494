import { type Hex, numberToHex } from "viem";
import { seaportAddresses } from "#abis/deployments.ts";
import type { ChainId } from "#chains/index.ts";
import { chainNameAt } from "#chains/partners.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import type { OfferItem, OrderComponents } from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import type { Partner } from "../partner.ts";
import { parseResponse } from "../send-request.ts";
import type { Transport } from "../transport.ts";
import { refusalOf } from "./fulfillment.ts";
import { PostedResponse } from "./response-schemas.ts";

const refusals = [400, 404, 409, 422];

/** Posts a signed listing. A duplicate counts as posted. */
export async function postListing(
  transport: Transport,
  chainId: ChainId,
  { components, signature }: { components: OrderComponents; signature: Hex },
): ReturnType<NonNullable<Partner["postListing"]>> {
  const response = await transport.send({
    method: "POST",
    path: `/api/v2/orders/${chainNameAt("opensea", chainId)}/seaport/listings`,
    body: {
      parameters: wireOrder(components),
      protocol_address: seaportAddresses["1.6"],
      signature,
    },
    budget: "act",
  });
  const expectedHash = orderHash(components);
  const posted = parseResponse(response, PostedResponse, refusals);
  if (posted === null) {
    const refusal = refusalOf(response);
    return isDuplicate(refusal, expectedHash)
      ? { orderHash: expectedHash }
      : reject("partner_rejected", refusal);
  }
  if (isRejection(posted)) return posted;
  return posted === expectedHash
    ? { orderHash: expectedHash }
    : reject("upstream_error", `OpenSea answered with hash ${posted}, expected ${expectedHash}`);
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
