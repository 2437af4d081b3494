import { sql } from "kysely";
import type { Address } from "viem";
import { afterAll, expect, it } from "vitest";
import { allProjections } from "#projections/all.ts";
import { appendObservations, type Observation } from "#projections/log/append.ts";
import {
  addressOf,
  appendEvents,
  type Block,
  block,
  type ChainEvent,
  project,
} from "../support/database/given.ts";
import {
  openProjectorConnection,
  processorMsOf,
} from "../support/database/projector-connection.ts";
import { soldOnLooksrare } from "../support/market-data/exchange-sales.ts";
import { described } from "../support/market-data/token-market.ts";
import {
  approval,
  cancelled,
  counterRaised,
  filled,
  givenBid,
  givenListing,
  read,
  transferred,
} from "../support/orders/order-facts.ts";
import { openProjectedLog } from "../support/orders/projected-log.ts";

const book = await openProjectedLog(allProjections({ feeRecipient: addressOf(0xfee) }));
const projector = openProjectorConnection(book.url);
afterAll(async () => {
  await projector.destroy();
  await book.drop();
});

const [holders, tokens] = [400, 3_000];
const holderOf = (token: number) => addressOf(10_000 + (token % holders));
const contractOf = (number: number): Address => addressOf(100 + number);

type Facts = { events: ChainEvent[] } | { observations: Observation[] };
type Place = { at: Block; log: number };
/** Facts about so many tokens of a contract. `placeOf`: in blocks of 50, behind the transfers. */
type Making = (contract: Address, count: number, placeOf: (index: number) => Place) => Facts;

const times = <Item>(count: number, make: (index: number) => Item) =>
  Array.from({ length: count }, (_, index) => make(index));
const listing = (contract: Address, token: number) =>
  givenListing({
    ...{ maker: holderOf(token), contract, tokenId: BigInt(token), salt: BigInt(token) },
    endTime: 4_000_000_000n,
  });
const inTransaction = (event: ChainEvent, index: number) => ({
  ...event,
  transactionIndex: index % 50,
});

const kinds: Record<string, Making> = {
  listings: (contract, count) => ({
    observations: times(count, (token) => listing(contract, token).submitted),
  }),
  "offers for tokens": (contract, count) => ({
    observations: times(
      count,
      (token) =>
        givenBid({ maker: holderOf(token + 1), contract, tokenId: BigInt(token) }).submitted,
    ),
  }),
  "offers for collections": (contract, count) => ({
    observations: times(
      count,
      (index) => givenBid({ maker: holderOf(index), contract, salt: BigInt(index) }).submitted,
    ),
  }),
  fills: (contract, count, placeOf) => ({
    events: times(count, (token) =>
      inTransaction(filled(listing(contract, token), 1n, placeOf(token)), token),
    ),
  }),
  "sales of another exchange": (contract, count, placeOf) => ({
    events: times(count, (token) => {
      const [seller, buyer] = [holderOf(token), addressOf(3)];
      const sale = { contract, tokenId: BigInt(token), seller, buyer, priceWei: 5n };
      return inTransaction(soldOnLooksrare(sale, placeOf(token)), token);
    }),
  }),
  cancellations: (contract, count, placeOf) => ({
    events: times(count, (token) => cancelled(listing(contract, token), placeOf(token))),
  }),
  counters: (_, count, placeOf) => ({
    events: times(count, (index) =>
      counterRaised(holderOf(index), BigInt(1 + index), placeOf(index)),
    ),
  }),
  approvals: (contract, count, placeOf) => ({
    events: times(count, (index) => approval(contract, holderOf(index), true, placeOf(index))),
  }),
  metadata: (contract, count) => ({
    observations: times(count, (token) =>
      described(contract, BigInt(token), [
        { trait_type: "Fur", value: `${token % 7}` },
        { trait_type: "Hat", value: `${token % 100}` },
      ]),
    ),
  }),
  "readings of owners": (contract, count, placeOf) => ({
    observations: times(count, (token) =>
      read(
        { kind: "owner_read", contract, tokenId: BigInt(token), owner: holderOf(token + 1) },
        placeOf(token).at,
      ),
    ),
  }),
};

async function append(facts: Facts): Promise<void> {
  if ("events" in facts) await appendEvents(book.db, facts.events);
  else await appendObservations(book.db, facts.observations);
}

it.each(Object.entries(kinds))(
  "the first %s after many transfers cost what their number says",
  async (_, make) => {
    await book.clear();
    const targets = await book.emptyTargets();
    const takenMs: number[] = [];
    for (const [round, count] of [250, 1_000].entries()) {
      const contract = contractOf(round);
      const placed = (index: number, firstLog: number): Place => ({
        at: block(1, 1_000 * (round + 1) + Math.floor(index / 50)),
        log: firstLog + (index % 50) * 10,
      });
      // Tokens with an owner, in a window that is planned for many facts and leaves its statistics.
      await append({
        events: times(tokens, (token) =>
          transferred({ contract, tokenId: BigInt(token), to: holderOf(token) }, placed(token, 0)),
        ),
      });
      await project(projector, targets);
      await sql`vacuum analyze`.execute(book.db);
      await append(make(contract, count, (index) => placed(index, 5_000)));
      const before = await processorMsOf(projector);
      await project(projector, targets);
      takenMs.push((await processorMsOf(projector)) - before);
    }
    const [few = Number.NaN, many = Number.NaN] = takenMs;
    expect(many).toBeLessThan(4 * few);
  },
);
