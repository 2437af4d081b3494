import type { Hex } from "viem";
import { z } from "zod";
import { seaport } from "#abis/deployments.ts";
import type { ChainId } from "#chains/index.ts";
import type { OrderStatus } from "#projections/domain/orders/order-status.ts";
import type { OrderComponents, SignedOrder } from "#projections/domain/seaport/order-components.ts";
import type { OrderRow } from "#projections/orders/read-orders.ts";
import { address, chainIdValue, hash, uint256Text } from "../wire.ts";
import { bytes, orderFields, presentOrder } from "./advanced-order.ts";
import { orderStatus } from "./book-order.ts";

const components = z
  .object({ ...orderFields, counter: uint256Text })
  .meta({ id: "OrderComponents" });

const record = {
  orderHash: hash,
  chainId: chainIdValue,
  status: orderStatus,
  protocolAddress: address.meta({ description: "The exchange." }),
  components,
  signature: bytes,
  opensea: z.object({ orderHash: hash, components }).nullable().meta({
    description: "The cross-listing on opensea; null: there is none, or it was rejected.",
  }),
};

/** An order exactly as its maker signed it. */
export const AskComponents = z.object({ askId: z.string(), ...record }).meta({
  id: "AskComponents",
});
export const BidComponents = z.object({ bidId: z.string(), ...record }).meta({
  id: "BidComponents",
});

type CrossListing = { partnerOrderHash: Hex; components: OrderComponents };
type Signed = Pick<OrderRow, "chainId" | "orderHash"> & { status: OrderStatus };

export function presentSignedOrder(
  { chainId, orderHash, status }: Signed,
  { components, signature }: SignedOrder,
  crossListing: CrossListing | null,
) {
  return {
    orderHash,
    // Rows come from the chains served.
    chainId: chainId as ChainId,
    status,
    protocolAddress: seaport["1.6"],
    components: presentComponents(components),
    signature,
    opensea: crossListing && {
      orderHash: crossListing.partnerOrderHash,
      components: presentComponents(crossListing.components),
    },
  };
}

const presentComponents = (components: OrderComponents) => ({
  ...presentOrder(components),
  counter: String(components.counter),
});
