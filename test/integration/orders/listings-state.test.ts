import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { block } from "#test/support/database/given.ts";
import {
  alice,
  approves,
  at,
  bob,
  gets,
  listing,
  nft,
  openListingsLog,
} from "#test/support/orders/listings-log.ts";
import {
  cancelled,
  filled,
  read,
  receivedAt,
  ticked,
  transferred,
} from "#test/support/orders/order-facts.ts";

const book = await openListingsLog();
const { activeListing, amounts, happens, readopt, retract, state } = book;
const hour = 3_600n;

afterAll(() => book.drop());
beforeEach(() => book.clear());

describe("a listing of units", () => {
  it("is fillable for the unfilled units that its maker holds", async () => {
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

  it("uses a balance reading where the log lacks transfers", async () => {
    const order = listing({ standard: "erc1155", quantity: 5n });
    const reading = read(
      { kind: "units_read", contract: nft, tokenId: 1n, owner: alice, units: 7n },
      block(1, 5),
    );
    await happens(
      order.submitted,
      approves(),
      transferred({ ...gets(bob, alice), units: 2n }, at(4)),
      reading,
    );
    const afterReading = await amounts(order);
    await happens(transferred({ ...gets(bob, alice), units: 3n }, at(6)));
    const afterTransfer = await amounts(order);
    // History before the reading, whose outcome the reading has.
    await happens(transferred({ ...gets(alice), units: 9n }, at(2)));

    expect(afterReading).toEqual([0n, 5n]);
    expect(afterTransfer).toEqual([0n, 4n]);
    expect(await amounts(order)).toEqual([0n, 4n]);
  });
});

describe("of a maker's listings of a token", () => {
  const priced = (unitPriceWei: bigint, terms: Parameters<typeof listing>[0] = {}) =>
    listing({ unitPriceWei, ...terms });

  it("only the cheapest is active, until it ends in any way", async () => {
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

  it("the newest of equal prices is active", async () => {
    const older = await activeListing({ salt: 1n });
    const newer = listing({ salt: 2n });
    await happens(newer.submitted);

    expect([await state(older), await state(newer)]).toEqual(["inactive superseded", "active"]);
  });

  it("one that cannot be filled does not supersede others", async () => {
    const fillable = await activeListing({ unitPriceWei: 300n });
    const later = priced(100n, { startTime: receivedAt + hour });
    await happens(later.submitted);
    const before = await state(fillable);
    await happens(ticked(receivedAt + hour));

    expect(before).toBe("active");
    expect(await state(fillable)).toBe("inactive superseded");
  });

  it("listings of other makers and other tokens are not superseded", async () => {
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

  it("is valid without an event, until an event of a later block", async () => {
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

  it("is ignored while its block is retracted", async () => {
    const order = await activeListing();
    await happens(ownerRead(bob, 5, "other"));
    const believed = await state(order);
    await retract(block(1, 5, "other"));
    const retracted = await state(order);
    await readopt(block(1, 5, "other"));

    expect([believed, retracted, await state(order)]).toEqual([
      "inactive not_owner",
      "active",
      "inactive not_owner",
    ]);
  });

  it("of an order's status includes fills and cancels without an event", async () => {
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
