import { multicall3, seaport } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import type { ChainId } from "#chains/index.ts";
import type { DevnetClient } from "../client.ts";
import type { ListingStatus, ListingStore, StoredListing } from "./listing-store.ts";

const exchange = { address: seaport["1.6"], abi: seaportFunctions } as const;
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
