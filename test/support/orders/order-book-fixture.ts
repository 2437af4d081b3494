import { pino } from "pino";
import type { Address, Hex } from "viem";
import { z } from "zod";
import { erc721Abi, erc1155Abi } from "#abis/tokens.ts";
import { type AppOptions, createApp } from "#api/app.ts";
import type { ChainId } from "#chains/index.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { Partner } from "#jobs/partners/partner.ts";
import { allProjections } from "#projections/all.ts";
import type { TradeTerms } from "#projections/domain/orders/order-terms.ts";
import { orderQuantity } from "#projections/domain/seaport/fill.ts";
import {
  type ConsiderationItem,
  itemType,
  type SignedOrder,
} from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import { appendObservations } from "#projections/log/append.ts";
import { orderSubmitted } from "#projections/orders/read-signed-orders.ts";
import { recordChain } from "../chain/chain-facts.ts";
import { type Market, openMarket } from "../chain/market.ts";
import { type RpcProxy, startRpcProxy } from "../chain/rpc-proxy.ts";
import { createProjections, project } from "../database/given.ts";
import { createDatabase, type TestDatabase } from "../database/postgres.ts";
import { type ApiClient, serve } from "../http/openapi.ts";
import { openTestMarket, testFee } from "./test-market.ts";

/** A local chain, its order book and API; the test does the work of the indexer and the projector. */
export type OrderBookFixture = Pick<Market, "actors" | "client"> & {
  db: TestDatabase["db"];
  /** The RPC proxy that the API uses. */
  node: RpcProxy;
  api: ApiClient;
  /** Of the API's app, for another one over the same data. */
  options: AppOptions;
  databaseUrl: string;
  /** Who owns a punk, and how many units of an edition somebody has, on the chain. */
  ownerOf(tokenId: bigint): Promise<Address>;
  unitsOf(owner: Address, tokenId: bigint): Promise<bigint>;
  /** Appends a signed order without validating it; returns its id. */
  submit(order: SignedOrder): Promise<string>;
  /** Records and projects everything mined so far. */
  catchUp(): Promise<void>;
  /** Every answer must match the served OpenAPI document. */
  /** Requests wait for the projections in vain. */
  pauseProjections(paused: boolean): void;
  get(path: string): Promise<ApiAnswer>;
  post(path: string, body?: unknown): Promise<ApiAnswer>;
  close(): Promise<void>;
};

const Answer = z.object({
  success: z.boolean(),
  code: z.string().optional(),
  message: z.string().optional(),
  data: z.any().optional(),
});
type ApiAnswer = z.output<typeof Answer> & { status: number };

export async function openOrderBook(
  chainId: ChainId,
  openPartners: (chain: {
    chainId: ChainId;
    rpcUrl: string;
  }) => Promise<Partner[]> = async () => [],
  moreOf: (context: AppOptions["context"], rpcUrl: string) => Partial<AppOptions> = () => ({}),
  server?: string,
): Promise<OrderBookFixture> {
  const [database, market] = await Promise.all([
    createDatabase({ template: "projected", server }),
    openMarket({ chainId, stocked: true }),
  ]);
  const { db } = database;
  const node = await startRpcProxy(market.anvil.rpcUrl);
  const projections = allProjections({ feeRecipient: testFee.recipient });
  const targets = await createProjections(db, projections);
  let projecting = Promise.resolve();
  const projectAll = () => {
    projecting = projecting.then(() => project(db, targets));
    return projecting;
  };
  const partners = await openPartners({ chainId, rpcUrl: market.anvil.rpcUrl });
  let isPaused = false;
  const waitUntilProjected = async () => {
    if (!isPaused) await projectAll();
    return !isPaused;
  };
  const context: AppOptions["context"] = {
    db,
    siteUrl: "https://site.example.test",
    chains: [chainId],
    readStatus: () => Promise.reject(new Error("the status is not used in this test")),
    market: openTestMarket(db, { [chainId]: node.url }, waitUntilProjected, partners),
    now: () => new Date(),
  };
  const options: AppOptions = {
    context,
    baseUrl: "https://api.example.test",
    logger: pino({ level: "warn" }),
    ...moreOf(context, market.anvil.rpcUrl),
  };
  const api = await serve(createApp(options));
  const catchUp = async () => {
    await recordChain(db, { chainId, rpcUrl: market.anvil.rpcUrl });
    await projectAll();
  };
  await catchUp();
  return {
    actors: market.actors,
    client: market.client,
    db,
    node,
    api,
    options,
    databaseUrl: database.url,
    ownerOf: (tokenId) =>
      market.client.readContract({
        ...{ address: contracts.punks, abi: erc721Abi, functionName: "ownerOf", args: [tokenId] },
      }),
    unitsOf: (owner, tokenId) =>
      market.client.readContract({
        ...{ address: contracts.editions, abi: erc1155Abi },
        ...{ functionName: "balanceOf", args: [owner, tokenId] },
      }),
    catchUp,
    pauseProjections: (paused) => {
      isPaused = paused;
    },
    async submit(order) {
      const signed = inLowerCase(order);
      const hash = orderHash(signed.components);
      await appendObservations(db, [
        orderSubmitted({
          chainId,
          orderHash: hash,
          ...signed,
          terms: termsOf(signed),
          receivedAt: new Date(),
        }),
      ]);
      await projectAll();
      return `mkt-${hash}`;
    },
    get: async (path) => answerOf(await api.get(path)),
    post: async (path, body) => answerOf(await api.post(path, body)),
    async close() {
      await api.close();
      await node.close();
      await market.stop();
      await database.drop();
    },
  };
}

function answerOf({ status, body }: { status: number; body: unknown }): ApiAnswer {
  return { status, ...Answer.parse(body) };
}

/** The terms of an order as intake parses them; all legs but the seller's go to the service or the creator. */
function termsOf({ components }: SignedOrder): TradeTerms {
  const { offer, consideration } = components;
  const [given] = offer;
  const [first, ...rest] = consideration;
  if (given === undefined || first === undefined) throw new Error("the order has an empty side");
  const side = given.itemType >= itemType.erc721 ? "ask" : "bid";
  const nft = side === "ask" ? given : first;
  const quantity = orderQuantity(components);
  const takenWei = rest.reduce((sum, leg) => sum + leg.startAmount, 0n);
  const wholeWei = side === "ask" ? first.startAmount + takenWei : given.startAmount;
  const byCriteria = nft.itemType >= itemType.erc721WithCriteria;
  return {
    side,
    contract: nft.token,
    standard: nft.itemType % 2 === 0 ? "erc721" : "erc1155",
    tokenId: byCriteria ? null : nft.identifierOrCriteria,
    quantity,
    unitPriceWei: wholeWei / quantity,
    sellerNetWei: (wholeWei - takenWei) / quantity,
    fees: rest.map((leg) => feeOf(leg, quantity)),
  };
}

function feeOf({ recipient, startAmount }: ConsiderationItem, quantity: bigint) {
  const kind = recipient === testFee.recipient ? ("service" as const) : ("royalty" as const);
  return { recipient, unitWei: startAmount / quantity, kind };
}

const lower = <Text extends Address | Hex>(text: Text) => text.toLowerCase() as Text;

/** Hex in the form that intake stores. */
function inLowerCase({ components, signature }: SignedOrder): SignedOrder {
  return {
    signature: lower(signature),
    components: {
      ...components,
      offerer: lower(components.offerer),
      offer: components.offer.map((item) => ({ ...item, token: lower(item.token) })),
      consideration: components.consideration.map((leg) => ({
        ...leg,
        token: lower(leg.token),
        recipient: lower(leg.recipient),
      })),
    },
  };
}
