import { pino } from "pino";
import { type Hex, zeroAddress, zeroHash } from "viem";
import { z } from "zod";
import { contracts } from "#devnet/contracts/addresses.ts";
import { openPartners } from "#jobs/partners/open-partners.ts";
import type { Partner } from "#jobs/partners/partner.ts";
import { crossListingPosts } from "#jobs/partners/post-cross-listings.ts";
import { interactive } from "#jobs/partners/transport.ts";
import { runJobs } from "#jobs/runner/run-jobs.ts";
import { createSignal } from "#jobs/runner/signals.ts";
import type { OrderComponents, SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import { resign, wireOrder } from "#test/support/orders/intake-fixture.ts";
import type { PartnerOrderBook } from "#test/support/orders/partner-order-book-fixture.ts";

const Item = z.object({
  itemType: z.number(),
  token: z.string(),
  identifierOrCriteria: z.string(),
  startAmount: z.string(),
  endAmount: z.string(),
});
const Parts = z.object({
  orderType: z.number(),
  offer: z.array(Item),
  consideration: z.array(Item.extend({ recipient: z.string() })),
});
const Row = Parts.extend({
  opensea: Parts.extend({
    zone: z.string(),
    zoneHash: z.string(),
    conduitKey: z.string(),
    maximumSeconds: z.number(),
    fees: z.array(z.looseObject({ recipient: z.string(), bps: z.number() })),
  }).nullable(),
});
type Required = { counter: string; conduitKey: string; row: z.output<typeof Row> };

const CrossListing = z.object({
  status: z.string(),
  orderHash: z.string().nullable(),
  code: z.string().nullable(),
  message: z.string(),
});

type ListedItem = { contract?: string; tokenId: bigint; priceWei: bigint; quantity?: number };
type Maker = { address: Hex; sign?: (given: { hash: Hex }) => Promise<Hex> };

let salt = BigInt(Date.now());

/** Default times of an order. */
const times = () => {
  const now = BigInt(Math.floor(Date.now() / 1000));
  salt += 1n;
  return { salt, startTime: now - 60n, endTime: now + 86_400n };
};

const wei = (item: z.output<typeof Item>) => ({
  ...item,
  token: item.token as Hex,
  identifierOrCriteria: BigInt(item.identifierOrCriteria),
  startAmount: BigInt(item.startAmount),
  endAmount: BigInt(item.endAmount),
});

/** Signs, submits and reads listings with cross-listings. */
export function openCrossListingFixture(book: PartnerOrderBook, chainId: 1 | 33139) {
  const required = async (maker: Hex, { contract, tokenId, priceWei, quantity }: ListedItem) => {
    const item = {
      contract: contract ?? contracts.punks,
      tokenId: `${tokenId}`,
      quantity: quantity ?? 1,
      unitPriceWei: `${priceWei}`,
    };
    const body = { chainId, maker, items: [item] };
    const { status, data } = await book.post("/v1/listings/requirements", body);
    if (status !== 200) throw new Error(`requirements: ${status} ${JSON.stringify(data)}`);
    return {
      counter: String(data.counter),
      conduitKey: String(data.conduitKey),
      row: Row.parse(data.items[0]),
    };
  };

  const components = (maker: Hex, found: Required, parts: z.output<typeof Parts>) => ({
    offerer: maker.toLowerCase() as Hex,
    zone: zeroAddress as Hex,
    zoneHash: zeroHash as Hex,
    conduitKey: found.conduitKey as Hex,
    orderType: parts.orderType,
    counter: BigInt(found.counter),
    offer: parts.offer.map(wei),
    consideration: parts.consideration.map((leg) => ({
      ...wei(leg),
      recipient: leg.recipient as Hex,
    })),
    ...times(),
  });

  const partnerComponents = (maker: Hex, found: Required): OrderComponents => {
    const { opensea } = found.row;
    if (opensea === null) throw new Error("the partner does not say what it requires");
    return {
      ...components(maker, found, opensea),
      zone: opensea.zone as Hex,
      zoneHash: opensea.zoneHash as Hex,
      conduitKey: opensea.conduitKey as Hex,
    };
  };

  const sign = (maker: Maker, order: OrderComponents) => resign(chainId, maker, order);

  return {
    required,
    components,
    partnerComponents,
    sign,
    /** A listing and its cross-listing as the requirements say; `change` modifies the cross-listing. */
    async pair(
      maker: Maker,
      item: ListedItem,
      change: (crossListing: OrderComponents) => OrderComponents = (crossListing) => crossListing,
    ) {
      const found = await required(maker.address, item);
      const seaport = await sign(maker, components(maker.address, found, found.row));
      const opensea = await sign(maker, change(partnerComponents(maker.address, found)));
      return { seaport, opensea, crossListingHash: orderHash(opensea.components) };
    },
    /** Submits listings with their cross-listings; returns the results. */
    async send(...pairs: { seaport: SignedOrder; opensea?: unknown }[]) {
      const listings = pairs.map(({ seaport, opensea }) => ({
        seaport: wireOrder(seaport),
        ...(opensea !== undefined && { opensea: isSigned(opensea) ? wireOrder(opensea) : opensea }),
      }));
      const answer = await book.post("/v1/orders/asks/bulk", { chainId, listings });
      const Result = z.looseObject({
        success: z.boolean(),
        askId: z.string().optional(),
        crossListing: CrossListing.optional(),
      });
      return z.object({ results: z.array(Result) }).parse(answer.data).results;
    },
    async crossListingOf(askId: string | undefined) {
      const { data } = await book.get(`/v1/orders/asks/${askId}/components?chainId=${chainId}`);
      return data.opensea;
    },
    /** Runs the job that posts cross-listings, until it is stopped. */
    startPosting() {
      const { opensea } = book;
      const config = { url: opensea.url, key: null, requestsPerMinute: 6_000 };
      const [partner] = openPartners(
        { opensea: config, magiceden: null },
        { ...interactive, timeoutMs: 1_000, waitMs: 200, attempts: 1 },
      );
      if (partner === undefined) throw new Error("there is no partner");
      return post(book, partner, chainId);
    },
  };
}

function isSigned(value: unknown): value is SignedOrder {
  return typeof value === "object" && value !== null && "components" in value;
}

function post({ db }: PartnerOrderBook, partner: Partner, chainId: 1 | 33139) {
  const aborter = new AbortController();
  const changeSignal = createSignal();
  const timer = setInterval(changeSignal.notify, 20);
  const logger = pino({ level: "silent" });
  const jobs = crossListingPosts({
    ...{ db, partner, changeSignal, chainIds: [chainId], logger },
    now: () => new Date(),
  });
  const running = runJobs(jobs, { logger, signal: aborter.signal });
  return {
    async stop() {
      clearInterval(timer);
      aborter.abort();
      await running;
      await partner.close();
    },
  };
}
