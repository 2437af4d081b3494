import type { Hex } from "viem";
import { z } from "zod";
import { seaportAddresses } from "#abis/deployments.ts";
import { orderHashOf, orderId } from "#api/orders/order-id.ts";
import type { ChainId } from "#chains/index.ts";
import type { OrderStatus } from "#projections/domain/orders/order-status.ts";
import { reject } from "#projections/domain/rejection.ts";
import type { AdvancedOrder, OrderParameters } from "#projections/domain/seaport/fill.ts";
import type {
  ConsiderationItem,
  OfferItem,
  OrderComponents,
  SignedOrder,
} from "#projections/domain/seaport/order-components.ts";
import type { Database } from "#projections/log/database.ts";
import type { OrderRow } from "#projections/orders/read-orders.ts";
import { readAcceptedOrders } from "#projections/orders/read-signed-orders.ts";
import { readCrossListings } from "#projections/partners/read-cross-listings.ts";
import { route } from "../context.ts";
import { chainId, chainRefusals, optionalChainId } from "../parameters.ts";
import { address, chainIdValue, hash, uint256Text } from "../wire.ts";
import { considerationItem, offerItem } from "./order-terms.ts";
import { asks, bids, idIn, idParams, orderNotFound, orderStatusField, type Side } from "./sides.ts";

export const hexBytes = z.string().regex(/^0x([0-9a-f]{2})*$/);

/** What the exchange's `OrderComponents` and `OrderParameters` have in common. */
const orderFields = {
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
};

const orderParameters = z
  .object({ ...orderFields, totalOriginalConsiderationItems: uint256Text })
  .meta({ id: "OrderParameters" });

/** The exchange's `AdvancedOrder`: an order and the fraction of it to fill. */
export const advancedOrderFields = {
  parameters: orderParameters,
  numerator: uint256Text,
  denominator: uint256Text,
  signature: hexBytes,
  extraData: hexBytes,
};

export function presentAdvancedOrder(order: AdvancedOrder) {
  return {
    parameters: presentParameters(order.parameters),
    numerator: String(order.numerator),
    denominator: String(order.denominator),
    signature: order.signature,
    extraData: order.extraData,
  };
}

function presentParameters(parameters: OrderParameters): z.output<typeof orderParameters> {
  return {
    ...presentOrder(parameters),
    totalOriginalConsiderationItems: String(parameters.totalOriginalConsiderationItems),
  };
}

export function presentOrder(order: Omit<OrderComponents, "counter">) {
  return {
    offerer: order.offerer,
    zone: order.zone,
    offer: order.offer.map(presentItem),
    consideration: order.consideration.map(presentLeg),
    orderType: order.orderType,
    startTime: String(order.startTime),
    endTime: String(order.endTime),
    zoneHash: order.zoneHash,
    salt: String(order.salt),
    conduitKey: order.conduitKey,
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

function presentLeg(leg: ConsiderationItem) {
  return { ...presentItem(leg), recipient: leg.recipient };
}

const components = z
  .object({ ...orderFields, counter: uint256Text })
  .meta({ id: "OrderComponents" });

const record = {
  orderHash: hash,
  chainId: chainIdValue,
  status: orderStatusField,
  protocolAddress: address.meta({ description: "The exchange." }),
  components,
  signature: hexBytes,
  opensea: z.object({ orderHash: hash, components }).nullable().meta({
    description: "The cross-listing on opensea; null: there is none, or it was rejected.",
  }),
};

/** An order exactly as its maker signed it. */
const AskComponents = z.object({ askId: z.string(), ...record }).meta({
  id: "AskComponents",
});
const BidComponents = z.object({ bidId: z.string(), ...record }).meta({
  id: "BidComponents",
});

type CrossListing = { partnerOrderHash: Hex; components: OrderComponents };
type Signed = Pick<OrderRow, "chainId" | "orderHash"> & { status: OrderStatus };

function presentSignedOrder(
  { chainId, orderHash, status }: Signed,
  { components, signature }: SignedOrder,
  crossListing: CrossListing | null,
) {
  return {
    orderHash,
    // Rows come from the chains served.
    chainId: chainId as ChainId,
    status,
    protocolAddress: seaportAddresses["1.6"],
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

type PresentedOrder = ReturnType<typeof presentSignedOrder>;

/** `present` adds the id under the side's own name. */
const orderComponents = <Row extends OrderRow, Schema extends z.ZodType>(
  side: Side<Row>,
  data: Schema,
  present: (id: string, order: PresentedOrder) => z.output<Schema>,
) =>
  route(
    {
      method: "get",
      path: `${side.path}/{${side.idName}}/components`,
      operationId: `get${side.name}Components`,
      tag: "Orders",
      loadClass: "orders",
      summary: `A ${side.noun} as its maker signed it, in any status`,
      params: idParams(side),
      query: z.object({ chainId }),
      data,
      refuses: { not_found: 404, ...chainRefusals },
    },
    async ({ params, query }, { db, market: { prefix }, now }) => {
      const id = idIn(side, params);
      const { chainId } = query;
      const orderHash = orderHashOf(prefix, id);
      const row = orderHash && (await side.read(db, chainId, orderHash, now()));
      const signed =
        orderHash && (await readAcceptedOrders(db, chainId, [orderHash])).get(orderHash);
      if (orderHash === null || row === null || !signed)
        return orderNotFound(side, { chainId, id, orderHash }, db, now);
      const crossListing = side.side === "ask" ? await readOpenCrossListing(db, row) : null;
      const order = presentSignedOrder(row, signed, crossListing);
      return { data: present(orderId(prefix, orderHash), order) };
    },
  );

async function readOpenCrossListing(db: Database, { chainId, orderHash }: OrderRow) {
  const [latest] = await readCrossListings(db, chainId, [orderHash]);
  return latest === undefined || latest.status === "rejected" ? null : latest;
}

export const askComponents = orderComponents(asks, AskComponents, (askId, order) => ({
  askId,
  ...order,
}));
export const bidComponents = orderComponents(bids, BidComponents, (bidId, order) => ({
  bidId,
  ...order,
}));

/** Only the exchange can invalidate a signed order, so that these endpoints always reject. */
const cancelOrder = (side: Side) =>
  route(
    {
      method: "post",
      path: `${side.path}/{${side.idName}}/cancel`,
      operationId: `cancel${side.name}`,
      tag: "Orders",
      loadClass: "orders",
      summary: `Always rejected: makers cancel a ${side.noun} on chain`,
      params: idParams(side),
      query: z.object({ chainId: optionalChainId }),
      data: z.null(),
      refuses: { bad_structure: 422, unsupported_chain: 422, cancel_on_chain: 409 },
    },
    async () =>
      reject(
        "cancel_on_chain",
        "Only its maker can cancel an order, on chain by `cancel` or `incrementCounter` of the exchange; then call sync",
      ),
  );

export const askCancel = cancelOrder(asks);
export const bidCancel = cancelOrder(bids);
