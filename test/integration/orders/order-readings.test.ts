import type { Address } from "viem";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { wrappedNative } from "#chains/index.ts";
import type { ChainReading } from "#projections/log/readings.ts";
import { bidsProjection } from "#projections/orders/bids.ts";
import { findChangedReadings } from "#projections/orders/changed-readings.ts";
import { listingsProjection } from "#projections/orders/listings.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { addressOf, block, type ChainEvent, zeroAddress } from "#test/support/database/given.ts";
import {
  approval,
  cancelled,
  channelUpdated,
  counterRaised,
  filled,
  givenBid,
  givenListing,
  read,
  transferred,
} from "#test/support/orders/order-facts.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";

const book = await openProjectedLog([ownershipProjection, listingsProjection, bidsProjection]);
const { db, happens } = book;
afterAll(() => book.drop());
beforeEach(() => book.clear());

const [alice, bob] = [addressOf(1), addressOf(2)];
const nft = addressOf(50);
const weth = wrappedNative[1];
const here = block(1, 10);

/** The readings at the end of a block that differ from the log. */
async function changed(readings: ChainReading[], at = here): Promise<ChainReading["kind"][]> {
  const basis = {
    number: BigInt(at.number),
    hash: at.hash,
    timestamp: new Date(at.timestamp * 1000),
  };
  const observed = await findChangedReadings(db, { chainId: 1, basis, readings }, new Date(0));
  return observed.map(({ kind }) => kind as ChainReading["kind"]);
}

const order = givenListing({ maker: alice, contract: nft, tokenId: 1n });
const { orderHash } = order;
const readings = {
  approval: (approved: boolean): ChainReading => ({
    kind: "approval_read",
    contract: nft,
    owner: alice,
    approved,
  }),
  counter: (counter: bigint): ChainReading => ({ kind: "counter_read", maker: alice, counter }),
  owner: (owner: typeof alice | null): ChainReading => ({
    kind: "owner_read",
    contract: nft,
    tokenId: 1n,
    owner,
  }),
  units: (units: bigint): ChainReading => ({
    kind: "units_read",
    contract: nft,
    tokenId: 2n,
    owner: alice,
    units,
  }),
  status: (isCancelled: boolean, share: [bigint, bigint]): ChainReading => ({
    kind: "order_status_read",
    orderHash,
    cancelled: isCancelled,
    filled: share[0],
    size: share[1],
  }),
  balance: (wei: bigint): ChainReading => ({
    kind: "balance_read",
    currency: weth,
    owner: alice,
    wei,
  }),
  allowance: (wei: bigint): ChainReading => ({
    kind: "allowance_read",
    currency: weth,
    owner: alice,
    wei,
  }),
  transfer: (allowed: boolean): ChainReading => ({
    kind: "transfer_read",
    contract: nft,
    tokenId: 1n,
    owner: alice,
    allowed,
  }),
  signature: (valid: boolean): ChainReading => ({
    kind: "signature_read",
    orderHash,
    maker: alice,
    valid,
  }),
  recipients: (refusing: Address | null): ChainReading => ({
    kind: "recipients_read",
    orderHash,
    recipients: [bob],
    refusing,
  }),
  channel: (open: boolean): ChainReading => ({ kind: "channel_read", open }),
};

/** The defaults without a fact, and their opposites. */
const granted = [
  readings.approval(false),
  readings.counter(0n),
  readings.owner(null),
  readings.units(0n),
  readings.status(false, [0n, 0n]),
  readings.balance(0n),
  readings.allowance(0n),
  readings.transfer(true),
  readings.signature(true),
  readings.recipients(null),
  readings.channel(true),
];
const opposites = [
  readings.approval(true),
  readings.counter(9n),
  readings.owner(alice),
  readings.units(4n),
  readings.status(true, [0n, 0n]),
  readings.balance(5n),
  readings.allowance(7n),
  readings.transfer(false),
  readings.signature(false),
  readings.recipients(bob),
  readings.channel(false),
];
const kindsOf = (list: readonly ChainReading[]) => list.map(({ kind }) => kind);

const paid =
  (kind: "erc20_transfer" | "wrapped_deposit" | "wrapped_withdrawal", wei: bigint) =>
  (at: number, log: number): ChainEvent => ({
    kind,
    block: block(1, at),
    logIndex: log,
    contract: weth,
    amount: wei,
    ...(kind === "wrapped_deposit" ? {} : { from: kind === "erc20_transfer" ? bob : alice }),
    ...(kind === "wrapped_withdrawal" ? {} : { to: alice }),
  });
const allows = (wei: bigint, at: number, log: number): ChainEvent => ({
  kind: "erc20_approval",
  block: block(1, at),
  logIndex: log,
  contract: weth,
  from: alice,
  to: "0x0000000000000068f116a894984e2db1123eb395",
  amount: wei,
});

describe("a reading is appended", () => {
  it("when it differs from the default and the log has no fact", async () => {
    expect(await changed(granted)).toEqual([]);
    expect(await changed(opposites)).toEqual(kindsOf(opposites));
  });

  it("not when it was read before, until that block is retracted", async () => {
    await happens(order.submitted, ...opposites.map((one) => read(one, block(1, 9))));
    const known = [await changed(opposites), await changed(granted)];
    await book.retract(block(1, 9));

    expect(known).toEqual([[], kindsOf(granted)]);
    expect(await changed(opposites)).toEqual(kindsOf(opposites));
  });

  it("not when events give the same", async () => {
    await happens(
      order.submitted,
      approval(nft, alice, true, { at: block(1, 1) }),
      counterRaised(alice, 9n, { at: block(1, 2) }),
      transferred({ contract: nft, to: alice, tokenId: 1n }, { at: block(1, 3) }),
      transferred({ contract: nft, to: alice, tokenId: 2n, units: 6n }, { at: block(1, 4) }),
      transferred(
        { contract: nft, from: alice, to: bob, tokenId: 2n, units: 2n },
        { at: block(1, 5) },
      ),
      cancelled(order, { at: block(1, 6) }),
      channelUpdated(false, { at: block(1, 7) }),
      paid("wrapped_deposit", 4n)(8, 0),
      paid("erc20_transfer", 3n)(8, 1),
      paid("wrapped_withdrawal", 2n)(8, 2),
      allows(7n, 8, 3),
    );
    const known = opposites.filter(
      ({ kind }) => !["transfer_read", "signature_read", "recipients_read"].includes(kind),
    );

    expect(await changed(known)).toEqual([]);
  });

  it("when an event gives the same only in a later block", async () => {
    await happens(
      approval(nft, alice, true, { at: block(1, 11) }),
      transferred(
        { contract: nft, to: alice, tokenId: 2n, units: 4n },
        { at: block(1, 11), log: 1 },
      ),
      paid("wrapped_deposit", 5n)(11, 2),
    );
    const late = [readings.approval(true), readings.units(4n), readings.balance(5n)];

    expect(await changed(late)).toEqual(kindsOf(late));
    expect(await changed(granted)).toEqual([]);
    expect(await changed(late, block(1, 11))).toEqual([]);
  });

  it("not about an owner before the token was transferred again", async () => {
    await happens(transferred({ contract: nft, to: bob, tokenId: 1n }, { at: block(1, 11) }));

    expect(await changed([readings.owner(alice)])).toEqual([]);
    expect(await changed([readings.owner(alice)], block(1, 11))).toEqual(["owner_read"]);
  });

  it("about a burned token like about one that never existed", async () => {
    const burned = { contract: nft, tokenId: 1n, from: alice, to: zeroAddress };
    await happens(transferred(burned, { at: block(1, 1) }));

    expect(await changed([readings.owner(null)])).toEqual([]);
  });

  it("when the filled fraction of an order differs in units, whatever its denominator", async () => {
    const many = givenListing({
      maker: alice,
      contract: nft,
      tokenId: 2n,
      standard: "erc1155",
      quantity: 10n,
    });
    const share = (of: bigint, size: bigint): ChainReading => ({
      kind: "order_status_read",
      orderHash: many.orderHash,
      cancelled: false,
      filled: of,
      size,
    });
    await happens(many.submitted, filled(many, 4n, { at: block(1, 2) }));

    expect(await changed([share(2n, 5n), share(4n, 10n)])).toEqual([]);
    expect(await changed([share(1n, 2n)])).toEqual(["order_status_read"]);
  });

  it("about an allowance, less what the maker's bids have spent since", async () => {
    const bid = givenBid({ maker: alice, contract: nft, tokenId: 1n, unitPriceWei: 100n });
    await happens(bid.submitted, allows(1_000n, 2, 0), filled(bid, 1n, { at: block(1, 3) }));
    const spent = [
      await changed([readings.allowance(900n)]),
      await changed([readings.allowance(1_000n)]),
    ];
    await happens(allows(2n ** 256n - 1n, 2, 1));

    expect(spent).toEqual([[], ["allowance_read"]]);
    expect(await changed([readings.allowance(2n ** 256n - 1n)])).toEqual([]);
  });

  it("once per block, subject and answer", async () => {
    const basis = { number: 10n, hash: here.hash, timestamp: new Date(0) };
    const identities = [];
    for (const reading of [...opposites, ...granted, ...opposites]) {
      identities.push(read(reading, here).identity);
    }

    expect(new Set(identities).size).toBe(opposites.length + granted.length);
    expect(await findChangedReadings(db, { chainId: 1, basis, readings: [] }, new Date(0))).toEqual(
      [],
    );
  });
});
