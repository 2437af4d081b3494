import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import {
  type Address,
  bytesToHex,
  concatHex,
  encodeFunctionData,
  type Hex,
  type PrivateKeyAccount,
  parseAbi,
  type TransactionReceipt,
} from "viem";
import { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import type { DevnetClient } from "#devnet/client.ts";
import { seeingWrites } from "../http/seeing-writes.ts";

/** What a caller knows of the exchange: its published functions. */
const exchangeAbi = parseAbi([
  "struct OfferItem { uint8 itemType; address token; uint256 identifierOrCriteria; uint256 startAmount; uint256 endAmount; }",
  "struct ConsiderationItem { uint8 itemType; address token; uint256 identifierOrCriteria; uint256 startAmount; uint256 endAmount; address recipient; }",
  "struct OrderComponents { address offerer; address zone; OfferItem[] offer; ConsiderationItem[] consideration; uint8 orderType; uint256 startTime; uint256 endTime; bytes32 zoneHash; uint256 salt; bytes32 conduitKey; uint256 counter; }",
  "struct OrderParameters { address offerer; address zone; OfferItem[] offer; ConsiderationItem[] consideration; uint8 orderType; uint256 startTime; uint256 endTime; bytes32 zoneHash; uint256 salt; bytes32 conduitKey; uint256 totalOriginalConsiderationItems; }",
  "struct AdvancedOrder { OrderParameters parameters; uint120 numerator; uint120 denominator; bytes signature; bytes extraData; }",
  "struct CriteriaResolver { uint256 orderIndex; uint8 side; uint256 index; uint256 identifier; bytes32[] criteriaProof; }",
  "struct FulfillmentComponent { uint256 orderIndex; uint256 itemIndex; }",
  "struct Fulfillment { FulfillmentComponent[] offerComponents; FulfillmentComponent[] considerationComponents; }",
  "struct AdditionalRecipient { uint256 amount; address recipient; }",
  "struct BasicOrderParameters { address considerationToken; uint256 considerationIdentifier; uint256 considerationAmount; address offerer; address zone; address offerToken; uint256 offerIdentifier; uint256 offerAmount; uint8 basicOrderType; uint256 startTime; uint256 endTime; bytes32 zoneHash; uint256 salt; bytes32 offererConduitKey; bytes32 fulfillerConduitKey; uint256 totalOriginalAdditionalRecipients; AdditionalRecipient[] additionalRecipients; bytes signature; }",
  "function fulfillBasicOrder_efficient_6GL6yc(BasicOrderParameters parameters) payable returns (bool)",
  "function matchAdvancedOrders(AdvancedOrder[] orders, CriteriaResolver[] criteriaResolvers, Fulfillment[] fulfillments, address recipient) payable",
  "function cancel(OrderComponents[] orders) returns (bool)",
]);

const Params = z.looseObject({
  domain: z.record(z.string(), z.unknown()),
  types: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() }))),
  zone: z.string(),
  zoneHash: z.string(),
  conduitKey: z.string(),
  saltPrefix: z.string(),
  counter: z.string(),
  orderType: z.number().nullable(),
  offer: z.array(z.unknown()).nullable(),
  consideration: z.array(z.unknown()).nullable(),
  blocked: z.string().nullable(),
  offers: z.looseObject({
    conduitKey: z.string(),
    orderType: z.number().nullable(),
    offer: z.array(z.unknown()).nullable(),
    consideration: z.array(z.unknown()).nullable(),
    blocked: z.string().nullable(),
  }),
});

export type Answer = { status: number; body: Body };
const Body = z.looseObject({ code: z.string().optional(), data: z.unknown().optional() });
type Body = z.output<typeof Body>;

const Stored = z.object({
  askId: z.string().optional(),
  bidId: z.string().optional(),
  orderHash: z.string(),
  status: z.string(),
});

/** What is listed or bid for, `tokenIds` by a bid on any of them; `unitPriceWei` of a bid is for one unit. */
export type OrderInput = {
  contract: Address;
  tokenId?: bigint;
  tokenIds?: readonly bigint[];
  unitPriceWei: bigint;
  quantity?: bigint;
  seconds?: number;
};

type TraderOptions = {
  baseUrl: string;
  chainId: ChainId;
  client: DevnetClient;
  account:
    | PrivateKeyAccount
    | { address: Address; signTypedData: PrivateKeyAccount["signTypedData"] };
  /** Who sends its transactions; itself when absent. */
  sender?: Address;
};

/** The service would refuse the order that the parameters describe, so that it says nothing to sign. */
export class BlockedOrder extends Error {
  readonly code: string;
  constructor(code: string) {
    super(`params: blocked ${code}`);
    this.code = code;
  }
}

/** Somebody who knows the API's answers and the exchange's functions, and no code of ours. */
export function openTrader({ baseUrl, chainId, client, account }: TraderOptions) {
  const maker = account.address.toLowerCase() as Address;
  const fetch = seeingWrites(`${baseUrl} ${chainId}`);

  async function request(method: "GET" | "POST", path: string, body?: unknown): Promise<Answer> {
    const response = await fetch(baseUrl + path, {
      method,
      ...(body !== undefined && {
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    });
    const answer = { status: response.status, body: Body.parse(await response.json()) };
    if (answer.body.code === "position_not_reached") {
      await delay(Number(response.headers.get("retry-after")) * 1_000);
      return await request(method, path, body);
    }
    return answer;
  }
  const get = (path: string) => request("GET", path);
  const post = (path: string, body: unknown = {}) => request("POST", path, body);

  async function send(to: Address, data: Hex, value = 0n): Promise<TransactionReceipt> {
    const hash = await client.sendTransaction({ account: maker, to, data, value, chain: null });
    return client.waitForTransactionReceipt({ hash });
  }

  async function params(input: OrderInput, kind?: "item" | "collection") {
    const query = new URLSearchParams({
      chainId: `${chainId}`,
      maker,
      contract: input.contract,
      unitPriceWei: `${input.unitPriceWei}`,
      ...(input.tokenId === undefined ? {} : { tokenId: `${input.tokenId}` }),
      ...(kind === undefined ? { quantity: `${input.quantity ?? 1n}` } : { kind }),
    });
    const { status, body } = await get(`/v1/orders/params?${query}`);
    if (status !== 200) throw new Error(`params: ${status} ${JSON.stringify(body)}`);
    return Params.parse(body.data);
  }

  /** The order that the parameters describe, unsigned. Throws `BlockedOrder`. */
  async function compose(input: OrderInput, kind?: "item" | "collection") {
    const found = await params(input, kind);
    const side = kind === undefined ? found : found.offers;
    if (side.blocked !== null) throw new BlockedOrder(side.blocked);
    if (side.consideration === null || side.offer === null) throw new Error("nothing to sign");
    const startTime = Math.floor(Date.now() / 1000);
    const salt = concatHex([found.saltPrefix as Hex, bytesToHex(randomBytes(28))]);
    const components = {
      offerer: maker,
      zone: found.zone,
      offer: side.offer,
      consideration: side.consideration,
      orderType: side.orderType,
      startTime: `${startTime}`,
      endTime: `${startTime + (input.seconds ?? 86_400)}`,
      zoneHash: found.zoneHash,
      salt: `${BigInt(salt)}`,
      conduitKey: side.conduitKey,
      counter: found.counter,
    };
    return { components, domain: found.domain, types: found.types };
  }

  async function sign(order: Awaited<ReturnType<typeof compose>>) {
    const { components, domain, types } = order;
    const primaryType = "OrderComponents";
    const signature = await account.signTypedData({
      domain,
      types,
      primaryType,
      message: components,
    });
    return { parameters: components, signature };
  }

  async function must(answer: Answer, path: string): Promise<z.output<typeof Stored>> {
    if (answer.status !== 201)
      throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return Stored.parse(answer.body.data);
  }

  async function submitListing(input: OrderInput): Promise<Answer> {
    const seaport = await sign(await compose(input));
    return post("/v1/orders/asks", { chainId, seaport });
  }

  async function submitBid(input: OrderInput): Promise<Answer> {
    const kind = input.tokenId === undefined ? "collection" : "item";
    const order = inUnits(await compose(input, kind), input.quantity ?? 1n, kind);
    if (input.tokenIds === undefined)
      return post("/v1/orders/bids", { chainId, seaport: await sign(order) });
    const criteria = { tokenIds: input.tokenIds.map(String) };
    const seaport = await sign(onRoot(order, await rootOf(input, criteria)));
    return post("/v1/orders/bids", { chainId, seaport, criteria });
  }

  /** Of a set of tokens, as the service makes it. */
  async function rootOf({ contract, unitPriceWei }: OrderInput, criteria: object): Promise<bigint> {
    const item = { kind: "token-list", contract, criteria, amountWei: `${unitPriceWei}` };
    const items = [{ ...item, quantity: 1 }];
    const { status, body } = await post("/v1/bids/requirements", { chainId, maker, items });
    if (status !== 200) throw new Error(`requirements: ${status} ${JSON.stringify(body)}`);
    const [{ blocked, criteria: set }] = Requirements.parse(body.data).items;
    if (set === null) throw new BlockedOrder(blocked ?? "");
    return BigInt(set.root);
  }

  return {
    maker,
    get,
    post,
    compose,
    sign,
    submitListing,
    submitBid,
    /** Signs and posts a listing; its id. */
    async lists(input: OrderInput): Promise<string> {
      return (await must(await submitListing(input), "listing")).askId ?? "";
    },
    async bids(input: OrderInput): Promise<string> {
      return (await must(await submitBid(input), "bid")).bidId ?? "";
    },

    buyData: (askId: string, more: Record<string, unknown> = {}) =>
      post(`/v1/listings/${askId}/buy-data`, { chainId, buyer: maker, ...more }),
    /** The transaction that the API returns. */
    async buyCall(askId: string, more: Record<string, unknown> = {}) {
      const { status, body } = await this.buyData(askId, more);
      if (status !== 200) throw new Error(`buy-data: ${status} ${JSON.stringify(body)}`);
      const { to, data, value } = z
        .object({ to: z.string(), data: z.string(), value: z.string() })
        .parse(body.data);
      return { to: to as Address, data: data as Hex, value: BigInt(value) };
    },
    async buys(askId: string, more: Record<string, unknown> = {}): Promise<TransactionReceipt> {
      const { to, data, value } = await this.buyCall(askId, more);
      return send(to, data, value);
    },

    acceptData: (bidId: string, tokenId?: bigint) =>
      post(`/v1/bids/${bidId}/accept-data`, {
        chainId,
        fulfiller: maker,
        ...(tokenId === undefined ? {} : { tokenId: `${tokenId}` }),
      }),
    async accepts(bidId: string, tokenId?: bigint) {
      const { status, body } = await this.acceptData(bidId, tokenId);
      if (status !== 200) throw new Error(`accept-data: ${status} ${JSON.stringify(body)}`);
      const { to, sellerNetWei } = z
        .looseObject({ to: z.string(), sellerNetWei: z.string() })
        .parse(body.data);
      const receipt = await send(to as Address, encodeAcceptance(body.data));
      return { receipt, sellerNetWei: BigInt(sellerNetWei) };
    },

    /** The transaction that cancels an order, from the components that the API returns. */
    async cancelCall(side: "asks" | "bids", id: string) {
      const { body } = await get(`/v1/orders/${side}/${id}/components?chainId=${chainId}`);
      const { components, protocolAddress } = z
        .looseObject({ components: z.unknown(), protocolAddress: z.string() })
        .parse(body.data);
      const data = encodeFunctionData({
        abi: exchangeAbi,
        functionName: "cancel",
        args: [[components as never]],
      });
      return { to: protocolAddress as Address, data };
    },
    async cancels(side: "asks" | "bids", id: string): Promise<TransactionReceipt> {
      const { to, data } = await this.cancelCall(side, id);
      return send(to, data);
    },

    async statusOf(side: "listings" | "bids", id: string): Promise<string> {
      const { status, body } = await get(`/v1/${side}/${id}?chainId=${chainId}`);
      // A busy service answers a POST before the order is derived, after waiting for two seconds.
      if (status === 404) return "not_found";
      const row = z
        .looseObject({
          status: z.string(),
          invalidReason: z.string().nullish(),
          inactiveReason: z.string().nullish(),
        })
        .parse(body.data);
      return [row.status, row.invalidReason ?? row.inactiveReason].filter(Boolean).join(" ");
    },
  };
}

export type Trader = ReturnType<typeof openTrader>;

export type Composed = Awaited<ReturnType<Trader["compose"]>>;

const Requirements = z.looseObject({
  items: z.tuple([
    z.looseObject({
      blocked: z.string().nullable(),
      criteria: z.looseObject({ root: z.string() }).nullable(),
    }),
  ]),
});

/** A bid on a collection, as one on a set of its tokens. */
export function onRoot(order: Composed, root: bigint): Composed {
  const [nft, ...others] = order.components.consideration;
  const consideration = [{ ...(nft as object), identifierOrCriteria: `${root}` }, ...others];
  return { ...order, components: { ...order.components, consideration } };
}

/** Parameters of a bid are for one unit and multiplied for more. A bid for one token cannot be filled partially. */
function inUnits(order: Composed, quantity: bigint, kind: "item" | "collection"): Composed {
  const times = (items: readonly unknown[]) =>
    items.map((item) => {
      const one = z.looseObject({ startAmount: z.string(), endAmount: z.string() }).parse(item);
      const startAmount = `${BigInt(one.startAmount) * quantity}`;
      return { ...one, startAmount, endAmount: startAmount };
    });
  const { components } = order;
  return {
    ...order,
    components: {
      ...components,
      offer: times(components.offer),
      consideration: times(components.consideration),
      orderType: quantity > 1n && kind === "collection" ? 1 : 0,
    },
  };
}

function encodeAcceptance(data: unknown): Hex {
  const accept = z.looseObject({ method: z.string() }).parse(data);
  if (accept.method === "matchAdvancedOrders") {
    const { orders, criteriaResolvers, fulfillments, recipient } = accept;
    return encodeFunctionData({
      abi: exchangeAbi,
      functionName: "matchAdvancedOrders",
      args: [orders, criteriaResolvers, fulfillments, recipient] as never,
    });
  }
  return encodeFunctionData({
    abi: exchangeAbi,
    functionName: "fulfillBasicOrder_efficient_6GL6yc",
    args: [accept.basicOrderParameters] as never,
  });
}
