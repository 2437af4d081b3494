import type { Address, Hex, LocalAccount } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { accounts } from "../accounts.ts";
import type { DevnetClient } from "../client.ts";
import { seededRandom } from "../market/random.ts";
import { sendAsMined, type MarketContext } from "../market/signer.ts";
import { addBulkListings } from "./bulk-listings.ts";
import { type Faults, withoutFaults } from "./faults.ts";
import type { ListingStatus, ListingStore, StoredListing } from "./listing-store.ts";
import { makePartnerListing, type PartnerName, type PartnerSale } from "./make-partner-listing.ts";
import type { StandInStream } from "./opensea/stream.ts";
import { readMakerState } from "./read-maker-state.ts";
import { know, type StandInCollection } from "./stand-in-collections.ts";
import type { Remembered, StandInServer } from "./stand-in-server.ts";

/** What a stand-in's own routes work on. */
export type StandInState = {
  partner: PartnerName;
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
export function createStandIn(state: StandInState, { server, stream }: Up, lookEveryMs: number) {
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
