import { type Address, type Hex, isAddressEqual } from "viem";
import { multicall3, seaportAddresses } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import type { ChainId } from "#chains/index.ts";
import { orderQuantity } from "#projections/domain/seaport/fill.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import type { DevnetClient } from "../client.ts";

/** What happens to a listing. */
export type ListingChange = "listed" | "filled" | "cancelled" | "withdrawn" | "restored";

export type ListingStatus = "active" | "filled" | "cancelled" | "withdrawn";

/** A listing that a partner shows, or showed. Times are unix seconds. */
export type StoredListing = {
  readonly chainId: ChainId;
  readonly orderHash: Hex;
  readonly order: SignedOrder;
  readonly contract: Address;
  readonly tokenId: bigint;
  readonly quantity: bigint;
  readonly unitPriceWei: bigint;
  /** Whether the book looks at the chain for it. */
  readonly isWatched: boolean;
  readonly listedAt: number;
  /** Counts up with every listing. */
  readonly sequence: number;
  remaining: bigint;
  status: ListingStatus;
  updatedAt: number;
  /** Counts up with every change of any listing. */
  changed: number;
};

export type ListingSort = "created" | "updated" | "price";

type PageQuery = {
  chainId: ChainId;
  contract?: Address | undefined;
  sort: ListingSort;
  isDescending: boolean;
  keep: (shown: StoredListing) => boolean;
  limit: number;
  /** Where the page before ended; an unknown cursor starts at the beginning. */
  cursor: string | undefined;
};

type Addition = {
  chainId: ChainId;
  order: SignedOrder;
  /** Known when many are added at once. */
  hash?: Hex;
  isWatched?: boolean;
  listedAt: number;
};

const sortValue: Record<ListingSort, (shown: StoredListing) => bigint> = {
  created: (shown) => BigInt(shown.sequence),
  updated: (shown) => BigInt(shown.changed),
  price: (shown) => shown.unitPriceWei,
};

/** The listings of a partner, in memory. Pages neither repeat nor lose a listing that stays while they are read. */
export function createListingStore() {
  const byHash = new Map<Hex, StoredListing>();
  const sorted = new Map<string, readonly StoredListing[]>();
  const listeners = new Set<(shown: StoredListing, change: ListingChange) => void>();
  let counter = 0;
  const notify = (shown: StoredListing, change: ListingChange) => {
    for (const listener of listeners) listener(shown, change);
  };

  return {
    /** Called for every change from now on. */
    listen(listener: (shown: StoredListing, change: ListingChange) => void): void {
      listeners.add(listener);
    },
    add(addition: Addition): StoredListing {
      const shown = shownOf(addition, ++counter);
      byHash.set(shown.orderHash, shown);
      sorted.clear();
      notify(shown, "listed");
      return shown;
    },
    change(
      shown: StoredListing,
      to: { status: ListingStatus; remaining?: bigint },
      at: number,
    ): void {
      const { status, remaining = shown.remaining } = to;
      const before = shown.status;
      if (before === status && shown.remaining === remaining) return;
      Object.assign(shown, { status, remaining, updatedAt: at, changed: ++counter });
      sorted.delete("updated");
      if (before !== status) notify(shown, status === "active" ? "restored" : status);
    },
    find: (chainId: ChainId, hash: string): StoredListing | undefined => {
      const shown = byHash.get(hash.toLowerCase() as Hex);
      return shown?.chainId === chainId ? shown : undefined;
    },
    all: (): Iterable<StoredListing> => byHash.values(),
    page(query: PageQuery): { listings: readonly StoredListing[]; next: string | undefined } {
      const listings = sorted.get(query.sort) ?? sort(byHash.values(), query.sort);
      sorted.set(query.sort, listings);
      const kept = takeFrom(listings, placeAfter(listings, query), query);
      const last = kept[query.limit - 1];
      if (kept.length <= query.limit || last === undefined)
        return { listings: kept, next: undefined };
      return { listings: kept.slice(0, query.limit), next: cursorAt(last, query.sort) };
    },
  };
}

export type ListingStore = ReturnType<typeof createListingStore>;

function sort(listings: Iterable<StoredListing>, by: ListingSort): StoredListing[] {
  const value = sortValue[by];
  return [...listings].sort((a, b) => Number(value(a) - value(b)) || a.sequence - b.sequence);
}

function shownOf(addition: Addition, sequence: number): StoredListing {
  const { chainId, order, hash, isWatched = true, listedAt } = addition;
  const [item] = order.components.offer;
  if (item === undefined) throw new TypeError("A listing offers a token");
  const quantity = orderQuantity(order.components);
  return {
    chainId,
    order,
    isWatched,
    listedAt,
    sequence,
    quantity,
    orderHash: hash ?? orderHash(order.components),
    contract: item.token,
    tokenId: item.identifierOrCriteria,
    unitPriceWei: totalWei(order) / quantity,
    remaining: quantity,
    status: "active",
    updatedAt: listedAt,
    changed: sequence,
  };
}

/** What the whole listing costs. */
export const totalWei = ({ components }: SignedOrder): bigint =>
  components.consideration.reduce((sum, leg) => sum + leg.startAmount, 0n);

/** Up to one more than the limit, to know whether there is a next page. */
function takeFrom(
  listings: readonly StoredListing[],
  first: number,
  query: PageQuery,
): StoredListing[] {
  const { chainId, contract, isDescending, keep, limit } = query;
  const kept: StoredListing[] = [];
  const step = isDescending ? -1 : 1;
  for (let index = first; kept.length <= limit; index += step) {
    const shown = listings[index];
    if (shown === undefined) return kept;
    const isAsked =
      shown.chainId === chainId &&
      (contract === undefined || isAddressEqual(shown.contract, contract)) &&
      keep(shown);
    if (isAsked) kept.push(shown);
  }
  return kept;
}

const cursorAt = (shown: StoredListing, sort: ListingSort) =>
  Buffer.from(`${sort}:${sortValue[sort](shown)}:${shown.sequence}`).toString("base64url");

/** Index of the first listing beyond the cursor, by bisection. */
function placeAfter(listings: readonly StoredListing[], query: PageQuery): number {
  const { cursor = "", sort, isDescending } = query;
  const [, cursorSort, value, sequence] =
    /^(\w+):(\d+):(\d+)$/.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  if (cursorSort !== sort || value === undefined) return isDescending ? listings.length - 1 : 0;
  const isBefore = (shown: StoredListing): boolean => {
    const difference = sortValue[sort](shown) - BigInt(value);
    if (difference !== 0n) return difference < 0n;
    return isDescending ? shown.sequence < Number(sequence) : shown.sequence <= Number(sequence);
  };
  let [low, high] = [0, listings.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const shown = listings[middle];
    if (shown !== undefined && isBefore(shown)) low = middle + 1;
    else high = middle;
  }
  return isDescending ? low - 1 : low;
}

const exchange = { address: seaportAddresses["1.6"], abi: seaportFunctions } as const;
const atOnce = 200;

/** Tells the book which of its listings the chain has filled or cancelled, or fills no longer undone by a reorg. */
export async function readMakerState(
  client: DevnetClient,
  { chainId, book, now }: { chainId: ChainId; book: ListingStore; now: number },
): Promise<void> {
  const watched = [...book.all()].filter(
    (shown) => shown.chainId === chainId && shown.isWatched && shown.status !== "withdrawn",
  );
  for (let first = 0; first < watched.length; first += atOnce)
    await lookAt(client, { book, listings: watched.slice(first, first + atOnce), now });
}

async function lookAt(
  client: DevnetClient,
  { book, listings, now }: { book: ListingStore; listings: readonly StoredListing[]; now: number },
): Promise<void> {
  const multicall = { multicallAddress: multicall3, allowFailure: false } as const;
  const [states, counters] = await Promise.all([
    client.multicall({
      ...multicall,
      contracts: listings.map(({ orderHash }) => ({
        ...exchange,
        functionName: "getOrderStatus" as const,
        args: [orderHash] as const,
      })),
    }),
    client.multicall({
      ...multicall,
      contracts: listings.map(({ order }) => ({
        ...exchange,
        functionName: "getCounter" as const,
        args: [order.components.offerer] as const,
      })),
    }),
  ]);
  for (const [index, shown] of listings.entries()) {
    const [, isCancelled, filled, size] = states[index] ?? [false, false, 0n, 0n];
    const remaining = size === 0n ? shown.quantity : (shown.quantity * (size - filled)) / size;
    const isDead = isCancelled || counters[index] !== shown.order.components.counter;
    book.change(shown, { status: statusOf(remaining, isDead), remaining }, now);
  }
}

function statusOf(remaining: bigint, isDead: boolean): ListingStatus {
  if (remaining === 0n) return "filled";
  return isDead ? "cancelled" : "active";
}
