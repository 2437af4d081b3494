import { z } from "zod";
import { type ChainId, seaport } from "../../../abis/deployments.ts";
import type { OrderStatus } from "../../../projections/domain/orders/order-status.ts";
import type {
  OfferItem,
  SignedOrder,
} from "../../../projections/domain/seaport/order-components.ts";
import type { ShownOrder } from "../../../projections/orders/read-shown.ts";
import { bytes } from "./advanced-order.ts";
import { orderStatus } from "./book-order.ts";
import { considerationItem, offerItem } from "./order-terms.ts";
import { address, chainIdValue, hash, uint256Text } from "./wire.ts";

const components = z
  .object({
    offerer: address,
    zone: address,
    offer: z.array(offerItem),
    consideration: z.array(considerationItem),
    orderType: z.int().min(0),
    startTime: uint256Text,
    endTime: uint256Text,
    zoneHash: hash,
    salt: uint256Text,
    conduitKey: hash,
    counter: uint256Text,
  })
  .meta({ id: "OrderComponents" });

const record = {
  orderHash: hash,
  chainId: chainIdValue,
  status: orderStatus,
  protocolAddress: address.meta({ description: "The exchange." }),
  components,
  signature: bytes,
  opensea: z
    .object({ orderHash: hash, components })
    .nullable()
    .meta({ description: "The twin on opensea, of a listing made on both." }),
};

/** An order exactly as its maker signed it. */
export const AskComponents = z.object({ askId: z.string(), ...record }).meta({
  id: "AskComponents",
});
export const BidComponents = z.object({ bidId: z.string(), ...record }).meta({
  id: "BidComponents",
});

type Signed = Pick<ShownOrder, "chainId" | "orderHash"> & { status: OrderStatus };

export function presentSignedOrder(
  { chainId, orderHash, status }: Signed,
  { components, signature }: SignedOrder,
) {
  return {
    orderHash,
    // Rows come from the chains served.
    chainId: chainId as ChainId,
    status,
    protocolAddress: seaport["1.6"],
    components: {
      ...components,
      offer: components.offer.map(presentItem),
      consideration: components.consideration.map((leg) => ({
        ...presentItem(leg),
        recipient: leg.recipient,
      })),
      startTime: String(components.startTime),
      endTime: String(components.endTime),
      salt: String(components.salt),
      counter: String(components.counter),
    },
    signature,
    opensea: null,
  };
}

function presentItem(item: OfferItem): z.output<typeof offerItem> {
  return {
    itemType: item.itemType,
    token: item.token,
    identifierOrCriteria: String(item.identifierOrCriteria),
    startAmount: String(item.startAmount),
    endAmount: String(item.endAmount),
  };
}
