import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { block, dumpTable } from "#test/support/database/given.ts";
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
  channelUpdated,
  counterRaised,
  filled,
  givenBid,
  read,
  receivedAt,
  ticked,
  transferred,
} from "#test/support/orders/order-facts.ts";

const book = await openListingsLog();
const { activeListing, counts, db, happens, retract, state } = book;
const hour = 3_600n;

afterAll(() => book.drop());
beforeEach(() => book.clear());

describe("a listing", () => {
  it("is active once its maker holds the token and has approved the conduit, in any order of facts", async () => {
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

  it("is inactive while another account owns its token", async () => {
    const order = await activeListing();
    await happens(transferred(gets(bob, alice), at(2)));
    const away = await state(order);
    await happens(transferred(gets(alice, bob), at(3)));

    expect([away, await state(order)]).toEqual(["inactive not_owner", "active"]);
  });

  it("is affected by a transfer of a range of tokens", async () => {
    const order = await activeListing();
    await happens({
      ...transferred({ ...gets(bob, alice), tokenId: 0n }, at(2)),
      kind: "erc721_consecutive_transfer",
      amount: 3n,
    });

    expect(await state(order)).toBe("inactive not_owner");
  });

  it("is inactive while the conduit is not approved or its channel is closed", async () => {
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

  it("is inactive while a contract that it pays does not take it, until the block of that is retracted", async () => {
    const order = await activeListing();
    const { orderHash } = order;
    const paid = (refusing: typeof bob | null, height: number) =>
      read({ kind: "recipients_read", orderHash, recipients: [bob], refusing }, block(1, height));
    const states = [];
    for (const fact of [paid(bob, 2), paid(null, 3), paid(bob, 4)]) {
      await happens(fact);
      states.push(await state(order));
    }
    await retract(block(1, 4));
    states.push(await state(order));

    const refused = "inactive transfer_restricted";
    expect(states).toEqual([refused, "active", refused, "active"]);
  });

  it("is inactive while a contract rejects its signature or the collection rejects the transfer", async () => {
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

  it("starts and ends by the log's clock", async () => {
    const order = await activeListing({ startTime: receivedAt + 1n });
    const states = [await state(order)];
    for (const time of [receivedAt + 1n, receivedAt + 24n * hour - 1n, receivedAt + 24n * hour]) {
      await happens(ticked(time));
      states.push(await state(order));
    }

    expect(states).toEqual(["inactive not_started", "active", "active", "expired"]);
    expect(await counts()).toEqual({ expired: 1n });
  });

  it("is cancelled by a cancel and by a counter increment, until their blocks are retracted", async () => {
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

  it("signed with the current counter is not cancelled", async () => {
    const order = await activeListing({ counter: 7n });
    await happens(counterRaised(alice, 7n, at(3)));

    expect(await state(order)).toBe("active");
  });

  it("signed with a counter that never was or was retracted is cancelled", async () => {
    const order = await activeListing({ counter: 7n });
    const before = await state(order);
    await happens(counterRaised(alice, 7n, at(3)));
    const raised = await state(order);
    await retract(block(1, 3));
    const takenBack = await state(order);
    await happens(counterRaised(alice, 5n, at(3, "other")));

    expect([before, raised, takenBack]).toEqual(["cancelled", "active", "cancelled"]);
    expect(await state(order)).toBe("cancelled");
  });

  it("is filled, and stays filled when the token, the counter and the clock change", async () => {
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

  it("does not include bids", async () => {
    await happens(givenBid({ maker: alice, contract: nft, tokenId: 1n }).submitted);

    expect(await dumpTable(db, "listings.listing")).toEqual([]);
  });
});
