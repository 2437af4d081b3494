import { sql } from "kysely";
import { listingsProjection } from "#projections/orders/listings.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { addressOf, block } from "../database/given.ts";
import { approval, type GivenOrder, givenListing, transferred } from "./order-facts.ts";
import { openProjectedLog } from "./projected-log.ts";

export const [alice, bob] = [addressOf(1), addressOf(2)];
export const nft = addressOf(50);

let log = 0;
/** The next log index of a block. */
export function at(number: number, branch = "main") {
  log += 1;
  return { at: block(1, number, branch), log };
}

type Terms = Partial<Parameters<typeof givenListing>[0]>;

/** Alice's listing of token 1. */
export const listing = (terms: Terms = {}) =>
  givenListing({ maker: alice, contract: nft, tokenId: 1n, ...terms });

/** A transfer of token 1, minted unless it has a sender. */
export const gets = (to: typeof alice, from?: typeof alice) => ({
  contract: nft,
  tokenId: 1n,
  to,
  ...(from === undefined ? {} : { from }),
});

/** Alice's approval of the conduit. */
export const approves = (yes = true, height = 1) => approval(nft, alice, yes, at(height));

/** A log and its projected listings. */
export async function openListingsLog() {
  const book = await openProjectedLog([ownershipProjection, listingsProjection]);
  const { db, happens } = book;
  return {
    ...book,
    state: (order: GivenOrder) => book.state("listings.listing", order),

    /** A listing that can be filled: the token is there and the conduit approved. */
    async activeListing(terms: Terms = {}): Promise<GivenOrder> {
      const order = listing(terms);
      const held = { ...gets(alice), ...(order.quantity > 1n ? { units: order.quantity } : {}) };
      await happens(transferred(held, at(1)), approves(), order.submitted);
      return order;
    },

    async amounts({ orderHash }: GivenOrder): Promise<[filled: bigint, fillable: bigint]> {
      const { rows } = await sql<{ filled: bigint; fillable: bigint }>`
        select filled, fillable from listings.listing
        where order_hash = decode(${orderHash.slice(2)}, 'hex')`.execute(db);
      return [rows[0]?.filled ?? -1n, rows[0]?.fillable ?? -1n];
    },

    async counts(): Promise<Record<string, bigint>> {
      const { rows } = await sql<{ status: string; rows: bigint }>`
        select status, rows from listings.count order by status`.execute(db);
      return Object.fromEntries(rows.map(({ status, rows }) => [status, rows]));
    },
  };
}
