import { sql } from "kysely";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { listingsProjection } from "../../projections/listings/project.ts";
import { ownershipProjection } from "../../projections/ownership/project.ts";
import { addressOf, block, dumpTable } from "../given.ts";
import { openBook } from "../order-book.ts";
import {
  approval,
  cancelled,
  channelUpdated,
  counterRaised,
  filled,
  type GivenOrder,
  givenBid,
  givenListing,
  read,
  receivedAt,
  ticked,
  transferred,
} from "../order-facts.ts";

const book = await openBook([ownershipProjection, listingsProjection]);
const { db, happens, retract, readopt } = book;
const state = (order: GivenOrder) => book.state("listings.listing", order);

const [alice, bob] = [addressOf(1), addressOf(2)];
const nft = addressOf(50);
const hour = 3_600n;
let log = 0;
/** The next place in a block. */
function at(number: number, branch = "main") {
  log += 1;
  return { at: block(1, number, branch), log };
}

const listing = (terms: Partial<Parameters<typeof givenListing>[0]> = {}) =>
  givenListing({ maker: alice, contract: nft, tokenId: 1n, ...terms });
const units = (quantity: bigint, terms: Parameters<typeof listing>[0] = {}) =>
  listing({ standard: "erc1155", quantity, ...terms });
const gets = (to: typeof alice, from?: typeof alice) => ({
  contract: nft,
  tokenId: 1n,
  to,
  ...(from === undefined ? {} : { from }),
});
const approves = (yes = true, height = 1) => approval(nft, alice, yes, at(height));

/** A listing that can be filled: the token is there and the conduit approved. */
async function activeListing(terms: Parameters<typeof listing>[0] = {}): Promise<GivenOrder> {
  const order = listing(terms);
  const held = { ...gets(alice), ...(order.quantity > 1n ? { units: order.quantity } : {}) };
  await happens(transferred(held, at(1)), approves(), order.submitted);
  return order;
}

async function amounts({ orderHash }: GivenOrder): Promise<[filled: bigint, fillable: bigint]> {
  const { rows } = await sql<{ filled: bigint; fillable: bigint }>`
    select filled, fillable from listings.listing where order_hash = decode(${orderHash.slice(2)}, 'hex')
  `.execute(db);
  return [rows[0]?.filled ?? -1n, rows[0]?.fillable ?? -1n];
}

async function counts() {
  const { rows } = await sql<{ status: string; rows: bigint }>`
    select status, rows from listings.count order by status`.execute(db);
  return Object.fromEntries(rows.map(({ status, rows }) => [status, rows]));
}

afterAll(() => book.drop());
beforeEach(() => book.clear());

describe("a listing", () => {
  it("is active once its maker holds the token and has approved the conduit, in whatever order that is told", async () => {
    const order = listing();
    await happens(order.submitted);
    const alone = await state(order);
    await happens(approves());
    const approved = await state(order);
    await happens(transferred(gets(alice), at(1)));

    expect([alone, approved]).toEqual(["inactive not_owner", "inactive not_owner"]);
    expect(await state(order)).toBe("active");
    expect(await counts()).toEqual({ active: 1n });
  });

  it("is hidden while its token is elsewhere", async () => {
    const order = await activeListing();
    await happens(transferred(gets(bob, alice), at(2)));
    const away = await state(order);
    await happens(transferred(gets(alice, bob), at(3)));

    expect([away, await state(order)]).toEqual(["inactive not_owner", "active"]);
  });

  it("follows a range of tokens that is given away at once", async () => {
    const order = await activeListing();
    await happens({
      ...transferred({ ...gets(bob, alice), tokenId: 0n }, at(2)),
      kind: "erc721_consecutive_transfer",
      amount: 3n,
    });

    expect(await state(order)).toBe("inactive not_owner");
  });

  it("is hidden while the conduit is not approved or may not act", async () => {
    const order = await activeListing();
    const states = [];
    for (const fact of [
      approves(false, 2),
      channelUpdated(false, at(2)),
      approves(true, 3),
      channelUpdated(true, at(4)),
    ]) {
      await happens(fact);
      states.push(await state(order));
    }

    expect(states).toEqual([
      "inactive not_approved",
      "inactive not_approved",
      "inactive conduit_channel_closed",
      "active",
    ]);
  });

  it("is hidden while a contract disowns the signature or the token may not be moved", async () => {
    const order = await activeListing();
    const { orderHash } = order;
    const movable = (allowed: boolean, height: number) =>
      read(
        { kind: "transfer_read", contract: nft, tokenId: 1n, owner: alice, allowed },
        block(1, height),
      );
    const signed = (valid: boolean, height: number) =>
      read({ kind: "signature_read", orderHash, maker: alice, valid }, block(1, height));
    const states = [];
    for (const fact of [movable(false, 2), signed(false, 3), movable(true, 4), signed(true, 5)]) {
      await happens(fact);
      states.push(await state(order));
    }

    expect(states).toEqual([
      "inactive transfer_restricted",
      "inactive contract_signature_invalid",
      "inactive contract_signature_invalid",
      "active",
    ]);
  });

  it("waits for its start and ends at its end, by the log's clock", async () => {
    const order = await activeListing({ startTime: receivedAt + 1n });
    const states = [await state(order)];
    for (const moment of [receivedAt + 1n, receivedAt + 24n * hour - 1n, receivedAt + 24n * hour]) {
      await happens(ticked(moment));
      states.push(await state(order));
    }

    expect(states).toEqual(["inactive not_started", "active", "active", "expired"]);
    expect(await counts()).toEqual({ expired: 1n });
  });

  it("is cancelled by its own cancel and by a raised counter, until those are undone", async () => {
    const order = await activeListing();
    await happens(cancelled(order, at(2)));
    const byItself = await state(order);
    await retract(block(1, 2));
    const again = await state(order);
    await happens(counterRaised(alice, 7n, at(3)));
    const byCounter = await state(order);
    await retract(block(1, 3));

    expect([byItself, again, byCounter]).toEqual(["cancelled", "active", "cancelled"]);
    expect(await state(order)).toBe("active");
  });

  it("of the counter in force is not cancelled by it", async () => {
    const order = await activeListing({ counter: 7n });
    await happens(counterRaised(alice, 7n, at(3)));

    expect(await state(order)).toBe("active");
  });

  it("is filled, and stays so when the token, the counter and the time go on", async () => {
    const order = await activeListing();
    await happens(transferred(gets(bob, alice), at(2)), filled(order, 1n, at(2)));
    const states = [await state(order)];
    const later = [cancelled(order, at(3)), counterRaised(alice, 1n, at(3)), approves(false, 3)];
    for (const fact of [...later, ticked(receivedAt + 48n * hour)]) {
      await happens(fact);
      states.push(await state(order));
    }

    expect(new Set(states)).toEqual(new Set(["filled"]));
    expect(await counts()).toEqual({ filled: 1n });
  });

  it("that ended more than once is cancelled rather than expired, and filled rather than cancelled", async () => {
    const order = await activeListing();
    await happens(ticked(receivedAt + 24n * hour), cancelled(order, at(2)));
    const both = await state(order);
    await happens(filled(order, 1n, at(3)));
    const all = await state(order);
    await retract(block(1, 2), block(1, 3));

    expect([both, all, await state(order)]).toEqual(["cancelled", "filled", "expired"]);
  });

  it("is none of the bids", async () => {
    await happens(givenBid({ maker: alice, contract: nft, tokenId: 1n }).submitted);

    expect(await dumpTable(db, "listings.listing")).toEqual([]);
  });
});

describe("a listing of units", () => {
  it("gives as many as are left and as its maker holds", async () => {
    const order = await activeListing({ standard: "erc1155", quantity: 5n });
    await happens(filled(order, 1n, at(2)), filled(order, 2n, at(3)));
    const afterFills = await amounts(order);
    await happens(transferred({ ...gets(bob, alice), units: 4n }, at(4)));
    const afterTransfer = [await state(order), ...(await amounts(order))];
    await happens(transferred({ ...gets(bob, alice), units: 1n }, at(5)));
    const without = [await state(order), ...(await amounts(order))];
    await happens(filled(order, 2n, at(6)));

    expect(afterFills).toEqual([3n, 2n]);
    expect(afterTransfer).toEqual(["active", 3n, 1n]);
    expect(without).toEqual(["inactive not_owner", 3n, 0n]);
    expect(await state(order)).toBe("filled");
  });

  it("is counted from a balance that was read, for transfers that the log does not hold", async () => {
    const order = units(5n);
    const told = read(
      { kind: "units_read", contract: nft, tokenId: 1n, owner: alice, units: 7n },
      block(1, 5),
    );
    await happens(
      order.submitted,
      approves(),
      transferred({ ...gets(bob, alice), units: 2n }, at(4)),
      told,
    );
    const afterReading = await amounts(order);
    await happens(transferred({ ...gets(bob, alice), units: 3n }, at(6)));
    const afterTransfer = await amounts(order);
    // History from before the reading, which told of its outcome.
    await happens(transferred({ ...gets(alice), units: 9n }, at(2)));

    expect(afterReading).toEqual([0n, 5n]);
    expect(afterTransfer).toEqual([0n, 4n]);
    expect(await amounts(order)).toEqual([0n, 4n]);
  });
});

describe("of a maker's listings of a token", () => {
  const priced = (unitPriceWei: bigint, terms: Parameters<typeof listing>[0] = {}) =>
    listing({ unitPriceWei, ...terms });

  it("only the cheapest is active, until that one ends in whatever way", async () => {
    const dear = await activeListing({ unitPriceWei: 300n });
    const cheap = priced(200n, { endTime: receivedAt + hour });
    const cheapest = priced(100n);
    await happens(cheap.submitted, cheapest.submitted);
    const states = [[await state(dear), await state(cheap), await state(cheapest)]];
    for (const fact of [cancelled(cheapest, at(2)), ticked(receivedAt + hour)]) {
      await happens(fact);
      states.push([await state(dear), await state(cheap), await state(cheapest)]);
    }
    await retract(block(1, 2));
    states.push([await state(dear), await state(cheap), await state(cheapest)]);

    expect(states).toEqual([
      ["inactive superseded", "inactive superseded", "active"],
      ["inactive superseded", "active", "cancelled"],
      ["active", "expired", "cancelled"],
      ["inactive superseded", "expired", "active"],
    ]);
  });

  it("of equal prices the newest is active", async () => {
    const older = await activeListing({ salt: 1n });
    const newer = listing({ salt: 2n });
    await happens(newer.submitted);

    expect([await state(older), await state(newer)]).toEqual(["inactive superseded", "active"]);
  });

  it("one that cannot be filled supersedes nothing", async () => {
    const fillable = await activeListing({ unitPriceWei: 300n });
    const later = priced(100n, { startTime: receivedAt + hour });
    await happens(later.submitted);
    const before = await state(fillable);
    await happens(ticked(receivedAt + hour));

    expect(before).toBe("active");
    expect(await state(fillable)).toBe("inactive superseded");
  });

  it("those of others and of other tokens stand beside them", async () => {
    const mine = await activeListing({ unitPriceWei: 300n });
    const other = priced(100n, { tokenId: 2n });
    const theirs = priced(100n, { maker: bob });
    await happens(
      other.submitted,
      theirs.submitted,
      transferred({ ...gets(alice), tokenId: 2n }, at(1)),
    );

    expect([await state(mine), await state(other), await state(theirs)]).toEqual([
      "active",
      "active",
      "inactive not_owner",
    ]);
  });
});

describe("a reading", () => {
  const ownerRead = (owner: typeof alice | null, height: number, branch = "main") =>
    read({ kind: "owner_read", contract: nft, tokenId: 1n, owner }, block(1, height, branch));

  it("stands for what no event told, and gives way to events of later blocks", async () => {
    const order = listing();
    await happens(order.submitted, approves(), ownerRead(alice, 5));
    const states = [await state(order)];
    for (const fact of [
      transferred(gets(bob, alice), at(5)),
      transferred(gets(bob, alice), at(6)),
      ownerRead(alice, 6),
      ownerRead(null, 7),
    ]) {
      await happens(fact);
      states.push(await state(order));
    }

    expect(states).toEqual([
      "active",
      "active",
      "inactive not_owner",
      "active",
      "inactive not_owner",
    ]);
  });

  it("is not believed while its block is dropped", async () => {
    const order = await activeListing();
    await happens(ownerRead(bob, 5, "other"));
    const believed = await state(order);
    await retract(block(1, 5, "other"));
    const dropped = await state(order);
    await readopt(block(1, 5, "other"));

    expect([believed, dropped, await state(order)]).toEqual([
      "inactive not_owner",
      "active",
      "inactive not_owner",
    ]);
  });

  it("of an order's status counts fills and cancels that no event told", async () => {
    const order = await activeListing({ standard: "erc1155", quantity: 10n });
    const { orderHash } = order;
    const status = (height: number, share: [bigint, bigint], isCancelled = false) =>
      read(
        {
          kind: "order_status_read",
          orderHash,
          cancelled: isCancelled,
          filled: share[0],
          size: share[1],
        },
        block(1, height),
      );
    await happens(filled(order, 1n, at(2)), status(4, [2n, 5n]));
    const [afterReading] = await amounts(order);
    await happens(filled(order, 2n, at(3)), filled(order, 3n, at(5)));
    const [afterFills] = await amounts(order);
    await happens(status(6, [7n, 10n], true));

    expect([afterReading, afterFills]).toEqual([4n, 7n]);
    expect(await state(order)).toBe("cancelled");
  });
});
