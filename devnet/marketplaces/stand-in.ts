import { type Address, type Hex, isAddress, isAddressEqual, isHex, type LocalAccount } from "viem";
import { z } from "zod";
import { type ChainId, chainIds } from "#chains/index.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { accounts } from "../accounts.ts";
import { connect, type DevnetClient } from "../client.ts";
import { seededRandom } from "../market/random.ts";
import { type MarketContext, sendAsMined } from "../market/signer.ts";
import {
  createListingStore,
  type ListingStatus,
  type ListingStore,
  readMakerState,
  type StoredListing,
} from "./listing-store.ts";
import {
  addBulkListings,
  makePartnerListing,
  type PartnerSale,
  type StandInName,
} from "./make-partner-listing.ts";
import type { StandInStream } from "./opensea/stream.ts";
import { presentWhole } from "./seaport-shapes.ts";
import { fixtureCollections, know, type StandInCollection } from "./stand-in-collections.ts";
import {
  type Answer,
  Faults,
  type Remembered,
  type StandInRequest,
  type StandInServer,
  startStandInServer,
  withoutFaults,
} from "./stand-in-server.ts";

export type StandInOptions = {
  /** Where real orders are made and looked at; may be none. */
  chains?: readonly { chainId: ChainId; rpcUrl: string }[];
  /** 0: any free one. */
  port?: number;
  /** Asked of every caller when given. */
  apiKey?: string;
  /** Interval of the check for fills and cancels on the chains; 0: only on request. */
  lookEveryMs?: number;
};

type Routes = (state: StandInState, request: StandInRequest) => Promise<Answer | undefined>;

/** A partner marketplace on loopback, with a handle for tests; `/_control` is the same over HTTP. */
export async function openStandIn(
  partner: StandInName,
  routes: Routes,
  options: StandInOptions,
  openStream?: (state: StandInState, apiKey?: string) => StandInStream,
): Promise<StandIn> {
  const { chains = [], port = 0, apiKey, lookEveryMs = 0 } = options;
  const state: StandInState = {
    partner,
    book: createListingStore(),
    collections: [...fixtureCollections],
    clients: new Map(chains.map((chain) => [chain.chainId, connect(chain)])),
  };
  const stream = openStream?.(state, apiKey);
  const server = await startStandInServer({
    port,
    apiKey,
    answer: (request) => routes(state, request),
    control: (request) => control(request, handle),
    upgrade: (request, connection, running) =>
      stream === undefined ? connection.destroy() : stream.accept(request, connection, running),
  });
  state.book.listen((shown, change) => stream?.send(shown, change, server.faults.stream));
  const handle = createStandIn(state, { server, stream }, lookEveryMs);
  return handle;
}

/** What a stand-in's own routes work on. */
export type StandInState = {
  partner: StandInName;
  book: ListingStore;
  collections: StandInCollection[];
  clients: ReadonlyMap<ChainId, DevnetClient>;
};

type StandInSale = Omit<PartnerSale, "partner" | "maker" | "creatorFees"> & {
  chainId: ChainId;
  maker: LocalAccount;
};

type ManyListings = {
  chainId: ChainId;
  contract: Address;
  count: number;
  firstTokenId?: bigint;
};

type Up = { server: StandInServer; stream: StandInStream | undefined };

/** The handle of a stand-in whose server is up. */
function createStandIn(state: StandInState, { server, stream }: Up, lookEveryMs: number) {
  const { partner, book, collections, clients } = state;
  const look = async (): Promise<void> => {
    for (const [chainId, client] of clients)
      await readMakerState(client, { chainId, book, now: server.now() });
  };
  const looking = keepLooking(look, lookEveryMs);
  return {
    partner,
    book,
    collections,
    url: `http://127.0.0.1:${server.port}`,
    /** Of the stream, where the partner has one. */
    streamUrl: `ws://127.0.0.1:${server.port}/socket/websocket`,
    port: server.port,
    /** What is listened to over the stream, once for each connection. */
    topics: (): string[] => stream?.topics() ?? [],
    /** How often somebody tried to connect to it. */
    upgrades: (): number => stream?.upgrades() ?? 0,
    /** Breaks the stream's connections that are open. */
    cutStream: (): void => stream?.cut(),
    ...failing(server),
    ...showing(state, server),
    /** Looks at the chains at once. */
    look,
    close: async (): Promise<void> => {
      looking.stop();
      stream?.cut();
      await server.close();
    },
  };
}

/** What goes wrong, and what was asked. */
function failing(server: StandInServer) {
  return {
    faults: (): Faults => server.faults,
    /** Changes those that are named; `{}` changes nothing. */
    fail: (faults: Partial<Faults>): void => {
      server.faults = { ...server.faults, ...faults };
    },
    /** Without any fault again. */
    heal: (): void => {
      server.faults = withoutFaults;
    },
    requests: (): readonly Remembered[] => server.requests,
    forgetRequests: (): void => {
      server.requests.length = 0;
    },
  };
}

/** What is listed. */
function showing({ partner, book, collections, clients }: StandInState, server: StandInServer) {
  const show = (chainId: ChainId, order: SignedOrder): StoredListing => {
    const [item] = order.components.offer;
    if (item !== undefined) know(collections, { chainId, contract: item.token });
    return book.add({ chainId, order, listedAt: server.now() });
  };
  const turn = (from: ListingStatus, to: ListingStatus) => (chainId: ChainId, orderHash: Hex) => {
    const shown = book.find(chainId, orderHash);
    if (shown?.status !== from) return false;
    book.change(shown, { status: to }, server.now());
    return true;
  };
  return {
    /** Makes, signs and shows a listing of a local maker's token. */
    sell: async ({ chainId, ...sale }: StandInSale): Promise<StoredListing> => {
      const client = clients.get(chainId);
      if (client === undefined) throw new Error(`${partner} knows no chain ${chainId}`);
      const { creatorFees } = know(collections, { chainId, contract: sale.nft.contract });
      const listing = { ...sale, partner, creatorFees };
      return show(chainId, await makePartnerListing(venueOn(chainId, client), listing));
    },
    /** Shows an order that somebody signed. */
    show,
    /** Listings that no chain knows the tokens of, ten thousand in a second or two. */
    showMany: async (many: ManyListings): Promise<void> => {
      know(collections, many);
      const bulk = { partner, ...many, maker: accounts.grace, now: server.now() };
      await addBulkListings(book, bulk);
    },
    /** False: it is not shown. */
    withdraw: turn("active", "withdrawn"),
    /** Shows a withdrawn listing again; false: it is none. */
    restore: turn("withdrawn", "active"),
  };
}

export type StandIn = ReturnType<typeof createStandIn>;

const venueOn = (chainId: ChainId, client: DevnetClient): MarketContext => ({
  chainId,
  client,
  sending: sendAsMined(client),
  random: seededRandom(Math.floor(Math.random() * 2 ** 32)),
});

/** A node that is away is looked at again the next time. */
function keepLooking(look: () => Promise<void>, everyMs: number): { stop(): void } {
  if (everyMs === 0) return { stop: () => {} };
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look()
      .catch(() => {})
      .finally(() => {
        isLooking = false;
      });
  }, everyMs);
  return { stop: () => clearInterval(timer) };
}

const chainId = z.union(chainIds.map((id) => z.literal(id)));
const address = z.custom<Address>((text) => isAddress(`${text}`, { strict: false }));
const hash = z.custom<Hex>((text) => isHex(text) && text.length === 66);
const wei = z.string().regex(/^\d+$/).transform(BigInt);

const Sale = z.object({
  chainId,
  maker: address,
  contract: address,
  tokenId: wei,
  standard: z.enum(["erc721", "erc1155"]).default("erc721"),
  priceWei: wei,
  quantity: wei.default(1n),
  currency: z.enum(["native", "wrapped"]).default("native"),
});
const Bulk = z.object({
  chainId,
  contract: address,
  count: z.int().min(1).max(200_000),
  firstTokenId: wei.default(1n),
});
const Named = z.object({ chainId, orderHash: hash });

type Control = (standIn: StandIn, body: unknown) => Promise<unknown> | unknown;

/** What tests in another process do with a stand-in, by method and path. */
const controls: Record<string, Control> = {
  "GET /_control": ({ partner, url, faults, requests, book }) => ({
    partner,
    url,
    faults: faults(),
    requests: requests().length,
    listings: countByStatus(book.all()),
  }),
  "PATCH /_control/faults": (standIn, body) => {
    standIn.fail(Faults.partial().parse(body) as Partial<Faults>);
    return standIn.faults();
  },
  "DELETE /_control/faults": (standIn) => {
    standIn.heal();
    return withoutFaults;
  },
  "GET /_control/requests": ({ requests }) => ({ requests: requests() }),
  "DELETE /_control/requests": ({ forgetRequests }) => forgetRequests() ?? {},
  "GET /_control/listings": ({ book }) => ({
    listings: [...book.all()].slice(-1_000).map(presentShown),
  }),
  "POST /_control/listings": async (standIn, body) => {
    const { contract, tokenId, standard, maker, ...sale } = Sale.parse(body);
    const nft = { contract, tokenId, standard };
    return presentShown(await standIn.sell({ ...sale, nft, maker: localAccount(maker) }));
  },
  "POST /_control/listings/bulk": async (standIn, body) => {
    const bulk = Bulk.parse(body);
    await standIn.showMany(bulk);
    return { added: bulk.count };
  },
  "POST /_control/listings/withdraw": ({ withdraw }, body) => {
    const { chainId, orderHash } = Named.parse(body);
    return { withdrawn: withdraw(chainId, orderHash) };
  },
  "POST /_control/listings/restore": ({ restore }, body) => {
    const { chainId, orderHash } = Named.parse(body);
    return { restored: restore(chainId, orderHash) };
  },
  "POST /_control/look": async ({ look }) => (await look()) ?? {},
};

/** Undefined: there is no such control. */
async function control(request: StandInRequest, standIn: StandIn): Promise<Answer | undefined> {
  const action = controls[`${request.method} ${request.path}`];
  if (action === undefined) return undefined;
  try {
    return { status: 200, body: await action(standIn, request.body) };
  } catch (error) {
    return { status: 400, body: { errors: [error instanceof Error ? error.message : `${error}`] } };
  }
}

function localAccount(address: Address): LocalAccount {
  const people = Object.values(accounts).filter((account) => typeof account !== "string");
  const found = people.find((account) => isAddressEqual(account.address, address));
  if (found === undefined) throw new Error(`${address} is nobody of the local chains`);
  return found;
}

function countByStatus(listings: Iterable<StoredListing>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of listings) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const presentShown = ({ chainId, orderHash, status, remaining, order }: StoredListing) => ({
  chainId,
  orderHash,
  status,
  remaining: `${remaining}`,
  components: presentWhole(order.components),
});
