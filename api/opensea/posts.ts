import { z } from "zod";
import { seaportAddresses } from "#abis/deployments.ts";
import { chainNameAt } from "#chains/partners.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import { askV1 } from "../v1/ask.ts";
import { acceptData } from "../v1/orders/accept-data.ts";
import { buyData } from "../v1/orders/buy-data.ts";
import { submitAsk, submitBid } from "../v1/orders/submit.ts";
import { wallet } from "../v1/parameters.ts";
import { idOfHash } from "./orders.ts";
import { decimals } from "./present-order.ts";
import { type OpenSeaContext, openSeaRoute } from "./route.ts";

const shared = {
  method: "post",
  tag: "OpenSea",
  loadClass: "orders",
  data: z.record(z.string(), z.unknown()),
} as const;

const amount = z.looseObject({ startAmount: z.string().regex(/^\d{1,78}$/) });
/** Checked as every order; read here as far as the answer shows it. */
const postedOrder = z.looseObject({
  parameters: z.looseObject({ offer: z.array(amount), consideration: z.array(amount) }),
  signature: z.string().nullish(),
  protocol_address: z.string(),
});
type Posted = z.output<typeof postedOrder>;
const postPlace = z.object({ chain: z.string(), protocol: z.string() });

const posting = (side: "listing" | "offer") =>
  openSeaRoute(
    {
      ...shared,
      path: `/api/v2/orders/{chain}/{protocol}/${side}s`,
      operationId: side === "listing" ? "postOpenSeaListing" : "postOpenSeaOffer",
      summary: `Submits a signed ${side}`,
      params: postPlace,
      body: postedOrder,
      refuses: (side === "listing" ? submitAsk : submitBid).refuses,
      bodyLimits: { maxBytes: 64 * 1024, maxValues: 1_500 },
    },
    async ({ body, address, key }, context) => {
      const { parameters, signature, protocol_address: protocolAddress } = body;
      const seaport = { parameters, signature, protocolAddress };
      const request = { body: { chainId: context.chainId, seaport }, from: { address, key } };
      const posted = await (side === "listing"
        ? askV1(submitAsk, request, context)
        : askV1(submitBid, request, context));
      if (isRejection(posted)) return posted;
      return { data: presentPosted(side, body, posted.data.orderHash, context) };
    },
  );
export const receiveListing = posting("listing");
export const receiveOffer = posting("offer");

/** As the original answers with an order that was just posted. */
function presentPosted(
  side: "listing" | "offer",
  { parameters, signature = null }: Posted,
  orderHash: string,
  { chainId }: OpenSeaContext,
) {
  const paid = side === "listing" ? parameters.consideration : parameters.offer;
  const value = String(paid.reduce((total, one) => total + BigInt(one.startAmount), 0n));
  const price = { currency: "", decimals, value };
  const [nft] = side === "listing" ? parameters.offer : parameters.consideration;
  return {
    order_hash: orderHash,
    chain: chainNameAt("opensea", chainId),
    protocol_address: seaportAddresses["1.6"],
    protocol_data: { parameters, signature },
    ...(side === "listing" ? { type: "basic", price: { current: price } } : { price }),
    remaining_quantity: Number(nft?.startAmount ?? 1),
    status: "ACTIVE",
  };
}

const named = z.looseObject({ hash: z.string(), chain: z.string().optional() });
const filling = {
  fulfiller: z.looseObject({ address: wallet }),
  units_to_fill: z.coerce.number().int().min(1).default(1),
  include_optional_creator_fees: z.boolean().optional(),
  consideration: z
    .looseObject({ asset_contract_address: wallet, token_id: z.coerce.string() })
    .optional(),
};

export const fillListing = openSeaRoute(
  {
    ...shared,
    path: "/api/v2/listings/fulfillment_data",
    operationId: "getOpenSeaListingFulfillment",
    summary: "The call that buys a listing, of any marketplace followed",
    body: z.looseObject({ listing: named, recipient: z.string().optional(), ...filling }),
    refuses: buyData.refuses,
  },
  async ({ body, address, key }, context) => {
    const { listing, fulfiller, recipient, units_to_fill: units } = body;
    if (recipient !== undefined && recipient.toLowerCase() !== fulfiller.address)
      return reject("bad_request", "recipient: what is bought goes to the one who pays");
    const askId = await idOfHash("listing", listing.hash, context);
    if (askId === null) return unknownOrder(listing.hash);
    const sent = { chainId: context.chainId, buyer: fulfiller.address, amount: units };
    const request = { params: { askId }, body: sent, from: { address, key } };
    const found = await askV1(buyData, request, context);
    if (isRejection(found)) return found;
    const { to, value, orderData } = found.data;
    const { parameters, numerator, denominator, signature, extraData } = orderData;
    const input = {
      advancedOrder: { parameters, numerator, denominator, signature, extraData },
      criteriaResolvers: [],
      fulfillerConduitKey: orderData.fulfillerConduitKey,
      recipient: orderData.recipient,
    };
    return { data: callOf(context, { to, value, method: "fulfillAdvancedOrder", input }) };
  },
);

export const fillOffer = openSeaRoute(
  {
    ...shared,
    path: "/api/v2/offers/fulfillment_data",
    operationId: "getOpenSeaOfferFulfillment",
    summary: "The call that sells into an offer",
    body: z.looseObject({ offer: named, ...filling }),
    refuses: acceptData.refuses,
  },
  async ({ body, address, key }, context) => {
    const { offer, fulfiller, consideration } = body;
    const bidId = await idOfHash("offer", offer.hash, context);
    if (bidId === null) return unknownOrder(offer.hash);
    const { chainId } = context;
    const token = consideration === undefined ? {} : { tokenId: consideration.token_id };
    const sent = { chainId, fulfiller: fulfiller.address, ...token };
    const request = { params: { bidId }, body: sent, from: { address, key } };
    const found = await askV1(acceptData, request, context);
    if (isRejection(found)) return found;
    const { to, value } = found.data;
    if (found.data.method !== "matchAdvancedOrders") {
      const { method, basicOrderParameters: parameters } = found.data;
      return { data: callOf(context, { to, value, method, input: { parameters } }) };
    }
    const { method, orders, criteriaResolvers, fulfillments, recipient } = found.data;
    const input = { orders, criteriaResolvers, fulfillments, recipient };
    return { data: callOf(context, { to, value, method, input }) };
  },
);

const unknownOrder = (hash: string) => reject("not_found", `No order ${hash.slice(0, 100)}`);

type Call = {
  readonly to: string;
  readonly value: string;
  readonly method: string;
  /** Arguments by name, in their order. */
  readonly input: Readonly<Record<string, unknown>>;
};

const callOf = ({ chainId }: OpenSeaContext, { to, value, method, input }: Call) => ({
  protocol: "seaport1.6",
  fulfillment_data: {
    transaction: { function: `${method}(`, chain: chainId, to, value, input_data: input },
    orders: [],
  },
});
