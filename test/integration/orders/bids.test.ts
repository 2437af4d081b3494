import { sql } from "kysely";
import type { Address, Hex } from "viem";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { seaportAddresses } from "#abis/deployments.ts";
import { wrappedNative } from "#chains/index.ts";
import { deriveInBulk } from "#projections/engine/bulk.ts";
import { dropTarget, readCheckpoints, type Target } from "#projections/engine/checkpoint.ts";
import { appendObservations, type Observation } from "#projections/log/append.ts";
import type { FactKind } from "#projections/log/fact-kinds.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { bidsProjection } from "#projections/orders/bids.ts";
import { readOpenBidsWei } from "#projections/orders/read-bids.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { type Random, randomFrom } from "#test/simulation/random.ts";
import {
  addressOf,
  appendEvents,
  type Block,
  block,
  type ChainEvent,
  createProjection,
  dumpTable,
  project,
  setBlocks,
  zeroAddress,
} from "#test/support/database/given.ts";
import { createDatabase } from "#test/support/database/postgres.ts";
import {
  cancelled,
  counterRaised,
  feeRecipient,
  filled,
  type GivenOrder,
  givenBid,
  read,
  receivedAt,
  ticked,
  transferred,
} from "#test/support/orders/order-facts.ts";
import { seedsOf } from "#test/support/thoroughness.ts";

const database = await createDatabase();
const { db } = database;
let targets: Target[];

afterAll(() => database.drop());
beforeEach(startAnew);

const schemas = {
  one: "bids_one",
  seven: "bids_seven",
  all: "bids_all",
  bulk: "bids_bulk",
} as const;

async function startAnew(): Promise<void> {
  for (const schema of [schemaOf("ownership"), schemaOf("bids"), ...Object.values(schemas)]) {
    await dropTarget(db, schema);
  }
  await sql`truncate log.fact, log.block, log.transaction, log.contract restart identity`.execute(
    db,
  );
  await sql`update log.head set position = 0`.execute(db);
  targets = [
    await createProjection(db, ownershipProjection),
    await createProjection(db, bidsProjection),
  ];
}

const weth = wrappedNative[1];
const unlimited = 2n ** 256n - 1n;
/** Of ERC-1155 and of ERC-721. */
const [nft, single] = [addressOf(50), addressOf(52)];
const dead: Address = "0x000000000000000000000000000000000000dead";
const openedAt = new Date(Number(receivedAt) * 1000);
const [alice, bob, carol] = [addressOf(1), addressOf(2), addressOf(3)];

let salt = 0n;

/** For a token by default. */
function bidOf(terms: Partial<Omit<Parameters<typeof givenBid>[0], "salt">> = {}): GivenOrder {
  salt += 1n;
  return givenBid({
    maker: alice,
    contract: nft,
    standard: "erc1155",
    unitPriceWei: 100n,
    endTime: 1_800_000_000n,
    ...terms,
    salt,
  });
}

type Place = { at: Block; log?: number };
type WethEvent = Place & { wei: bigint };

const wethEvent = (
  kind: FactKind,
  { at, log = 0, wei }: WethEvent,
  accounts: Pick<ChainEvent, "from" | "to">,
): ChainEvent => ({ kind, block: at, logIndex: log, contract: weth, amount: wei, ...accounts });

const deposited = (to: Address, place: WethEvent) => wethEvent("wrapped_deposit", place, { to });
const withdrawn = (from: Address, place: WethEvent) =>
  wethEvent("wrapped_withdrawal", place, { from });
const moved = (from: Address, to: Address, place: WethEvent) =>
  wethEvent("erc20_transfer", place, { from, to });
const approved = (from: Address, place: WethEvent) =>
  wethEvent("erc20_approval", place, { from, to: seaportAddresses["1.6"] });

const balanceRead = (owner: Address, wei: bigint, at: Block) =>
  read({ kind: "balance_read", currency: weth, owner, wei }, at);
const allowanceRead = (owner: Address, wei: bigint, at: Block) =>
  read({ kind: "allowance_read", currency: weth, owner, wei }, at);
const counterRead = (maker: Address, counter: bigint, at: Block) =>
  read({ kind: "counter_read", maker, counter }, at);
const signatureRead = ({ orderHash }: GivenOrder, valid: boolean, at: Block) =>
  read({ kind: "signature_read", orderHash, maker: alice, valid }, at);
const recipientsRead = ({ orderHash }: GivenOrder, refusing: Address | null, at: Block) =>
  read({ kind: "recipients_read", orderHash, recipients: [alice], refusing }, at);

type Happening = ChainEvent | Observation | GivenOrder;

async function append(one: Happening): Promise<void> {
  if ("logIndex" in one) await appendEvents(db, [one]);
  else await appendObservations(db, ["submitted" in one ? one.submitted : one]);
}

async function happens(...happenings: Happening[]): Promise<void> {
  for (const one of happenings) await append(one);
  await project(db, targets);
}

async function states(schema = "bids"): Promise<Map<Hex, string>> {
  const { rows } = await sql<{ hash: Hex; state: string }>`
    select order_hash as hash, coalesce(reason, status) as state
    from ${sql.table(`${schema}.bid`)}`.execute(db);
  return new Map(rows.map(({ hash, state }) => [hash, state]));
}

/** Status, or the reason of an inactive one. */
async function stateOf({ orderHash }: GivenOrder): Promise<string | undefined> {
  return (await states()).get(orderHash);
}

async function dump(schema = "bids"): Promise<string[][]> {
  return [await dumpTable(db, `${schema}.bid`), await dumpTable(db, `${schema}.count`)];
}

/** What a fill emits to which its fulfiller appended units of an NFT, for whomever. */
function withTip(payload: unknown, units: bigint): unknown {
  const { consideration, ...others } = payload as { consideration: unknown[] };
  const token = { itemType: 3, token: addressOf(51), identifier: "7", amount: `${units}` };
  return { ...others, consideration: [...consideration, { ...token, recipient: carol }] };
}

/** Alice can pay for anything. */
const funded = [
  deposited(alice, { at: block(1, 1), wei: 10_000n }),
  approved(alice, { at: block(1, 1), log: 1, wei: unlimited }),
];

describe("a bid", () => {
  it("has the signed terms", async () => {
    const bid = bidOf({ quantity: 3n, unitPriceWei: 500n });
    await happens(...funded, bid);

    const { rows } = await sql`
      select chain_id, order_hash, kind, token_id, standard, maker, currency, unit_price_wei, seller_net_wei, quantity,
             start_time, end_time, counter, fees, status, reason, filled from bids.bid`.execute(db);
    expect(rows).toEqual([
      {
        chain_id: 1,
        order_hash: bid.orderHash,
        kind: "collection",
        token_id: null,
        standard: 1155,
        maker: alice,
        currency: weth,
        unit_price_wei: 500n,
        seller_net_wei: 495n,
        quantity: 3n,
        start_time: receivedAt,
        end_time: 1_800_000_000n,
        counter: 0n,
        fees: [{ recipient: feeRecipient, unitWei: "5", kind: "service" }],
        status: "active",
        reason: null,
        filled: 0n,
      },
    ]);
    expect(await dumpTable(db, "bids.count")).toEqual([
      expect.stringContaining("collection,active,1"),
    ]);
  });

  it("has insufficient balance while its maker has never had any", async () => {
    const bid = bidOf();
    await happens(bid);

    expect(await stateOf(bid)).toBe("insufficient_balance");
  });
});

describe("a balance", () => {
  it("decreases with a withdrawal and increases with a deposit", async () => {
    const bid = bidOf();
    await happens(...funded, bid);
    await happens(withdrawn(alice, { at: block(1, 2), wei: 9_901n }));
    const without = await stateOf(bid);
    await happens(deposited(alice, { at: block(1, 3), wei: 1n }));

    expect(without).toBe("insufficient_balance");
    expect(await stateOf(bid)).toBe("active");
  });

  it("decreases with a transfer out and increases with one in; a transfer to oneself changes nothing", async () => {
    const bid = bidOf();
    await happens(...funded, bid);
    await happens(moved(alice, alice, { at: block(1, 2), wei: 10_000n }));
    const kept = await stateOf(bid);
    await happens(moved(alice, bob, { at: block(1, 3), wei: 10_000n }));
    const without = await stateOf(bid);
    await happens(moved(bob, alice, { at: block(1, 4), wei: 100n }));

    expect([kept, without]).toEqual(["active", "insufficient_balance"]);
    expect(await stateOf(bid)).toBe("active");
  });

  it("is not touched by a transfer of nothing, which anybody may make for anybody", async () => {
    await happens(...funded, bidOf());
    const rows = () =>
      sql`select xmin::text as written, * from bids.bid`.execute(db).then(({ rows }) => rows);
    const before = await rows();
    await happens(moved(alice, bob, { at: block(1, 2), wei: 0n }));
    await happens(moved(bob, alice, { at: block(1, 3), wei: 0n }));
    await happens(deposited(alice, { at: block(1, 4), wei: 0n }));
    await happens(withdrawn(alice, { at: block(1, 5), wei: 0n }));

    expect(await rows()).toEqual(before);
    await happens(moved(bob, alice, { at: block(1, 6), wei: 1n }));
    expect(await rows()).not.toEqual(before);
  });

  it("is the latest reading plus transfers of later blocks", async () => {
    const bid = bidOf();
    await happens(approved(alice, { at: block(1, 1), wei: unlimited }), bid);
    await happens(balanceRead(alice, 100n, block(1, 5)));
    const read = await stateOf(bid);
    await happens(withdrawn(alice, { at: block(1, 5), log: 9, wei: 1n }));
    const before = await stateOf(bid);
    await happens(withdrawn(alice, { at: block(1, 6), wei: 1n }));
    const after = await stateOf(bid);
    await happens(balanceRead(alice, 100n, block(1, 6)));

    expect([read, before, after]).toEqual(["active", "active", "insufficient_balance"]);
    expect(await stateOf(bid)).toBe("active");
  });

  it("ignores a reading of a retracted block", async () => {
    const bid = bidOf();
    await happens(...funded, bid, balanceRead(alice, 0n, block(1, 5)));
    const read = await stateOf(bid);
    await setBlocks(db, "block_retracted", [block(1, 5)]);
    await project(db, targets);

    expect(read).toBe("insufficient_balance");
    expect(await stateOf(bid)).toBe("active");
  });

  it("on one chain does not affect bids on another", async () => {
    const bid = bidOf();
    await happens(...funded, bid);
    await happens({ ...withdrawn(alice, { at: block(33139, 2), wei: 10_000n }) });

    expect(await stateOf(bid)).toBe("active");
  });
});

describe("an allowance", () => {
  const balance = deposited(alice, { at: block(1, 1), wei: 10_000n });

  it("may be exact, and is checked after the balance", async () => {
    const bid = bidOf();
    await happens(bid, balance, approved(alice, { at: block(1, 2), wei: 99n }));
    const short = await stateOf(bid);
    await happens(approved(alice, { at: block(1, 2), log: 1, wei: 100n }));
    const exact = await stateOf(bid);
    await happens(approved(alice, { at: block(1, 3), wei: 0n }));
    const revoked = await stateOf(bid);
    await happens(withdrawn(alice, { at: block(1, 4), wei: 10_000n }));

    expect([short, exact, revoked]).toEqual([
      "insufficient_allowance",
      "active",
      "insufficient_allowance",
    ]);
    expect(await stateOf(bid)).toBe("insufficient_balance");
  });

  it("that is exact for three bids suffices for two after a fill, each compared alone", async () => {
    const [first, second, third] = [
      bidOf(),
      bidOf({ unitPriceWei: 150n }),
      bidOf({ unitPriceWei: 250n }),
    ];
    await happens(first, second, third, balance, approved(alice, { at: block(1, 2), wei: 300n }));
    const before = [await stateOf(first), await stateOf(second), await stateOf(third)];
    await happens(filled(first, 1n, { at: block(1, 3) }));
    const after = [await stateOf(first), await stateOf(second), await stateOf(third)];
    await happens(approved(alice, { at: block(1, 4), wei: 400n }));

    expect(before).toEqual(["active", "active", "active"]);
    expect(after).toEqual(["filled", "active", "insufficient_allowance"]);
    expect(await stateOf(third)).toBe("active");
  });

  it("is not reduced by an earlier fill, and is by a later one that is appended late", async () => {
    const [first, second] = [bidOf(), bidOf()];
    await happens(second, balance, approved(alice, { at: block(1, 2), log: 5, wei: 100n }));
    await happens(filled(first, 1n, { at: block(1, 2), log: 9 }));
    const unknown = await stateOf(second);
    await happens(first);
    const known = await stateOf(second);
    await happens(approved(alice, { at: block(1, 2), log: 12, wei: 100n }));

    expect([unknown, known]).toEqual(["active", "insufficient_allowance"]);
    expect(await stateOf(second)).toBe("active");
  });

  it("without limit is not reduced", async () => {
    const [first, second] = [bidOf(), bidOf()];
    await happens(...funded, first, second, filled(first, 1n, { at: block(1, 3) }));

    expect(await stateOf(second)).toBe("active");
  });

  it("is the latest approval or reading, a reading being of the end of its block", async () => {
    const bid = bidOf();
    await happens(bid, balance, approved(alice, { at: block(1, 5), log: 3, wei: 0n }));
    await happens(allowanceRead(alice, 100n, block(1, 4)));
    const older = await stateOf(bid);
    await happens(allowanceRead(alice, 100n, block(1, 5)));
    const equal = await stateOf(bid);
    await happens(approved(alice, { at: block(1, 6), wei: 1n }));

    expect([older, equal]).toEqual(["insufficient_allowance", "active"]);
    expect(await stateOf(bid)).toBe("insufficient_allowance");
  });

  it("that was read includes what was spent in its block", async () => {
    const [first, second] = [bidOf(), bidOf()];
    await happens(first, second, balance, allowanceRead(alice, 100n, block(1, 5)));
    await happens(filled(first, 1n, { at: block(1, 5), log: 4 }));
    const same = await stateOf(second);
    await happens(allowanceRead(alice, 100n, block(1, 4)));
    const stillNewest = await stateOf(second);
    await setBlocks(db, "block_retracted", [block(1, 5)]);
    await happens(filled(first, 1n, { at: block(1, 6) }));

    expect([same, stillNewest]).toEqual(["active", "active"]);
    expect(await stateOf(second)).toBe("insufficient_allowance");
  });

  it("to another spender is ignored", async () => {
    const bid = bidOf();
    await happens(...funded, bid);
    await happens({ ...approved(alice, { at: block(1, 2), wei: 0n }), to: bob });

    expect(await stateOf(bid)).toBe("active");
  });
});

describe("an end", () => {
  it("of a collection bid comes in parts, each reducing what is left to pay", async () => {
    const bid = bidOf({ quantity: 4n });
    await happens(bid, deposited(alice, { at: block(1, 1), wei: 300n }));
    await happens(approved(alice, { at: block(1, 1), log: 1, wei: unlimited }));
    const whole = await stateOf(bid);
    await happens(filled(bid, 1n, { at: block(1, 2) }));
    const part = await stateOf(bid);
    await happens(filled(bid, 3n, { at: block(1, 3) }));

    expect([whole, part]).toEqual(["insufficient_balance", "active"]);
    expect(await stateOf(bid)).toBe("filled");
  });

  it("of a collection bid counts its own item alone, whatever items its fulfiller appends", async () => {
    const bid = bidOf({ quantity: 10n });
    const fill = filled(bid, 1n, { at: block(1, 2) });
    await happens(...funded, bid, { ...fill, payload: withTip(fill.payload, 9n) });

    const { rows } = await sql`select status, filled from bids.bid`.execute(db);
    expect(rows).toEqual([{ status: "active", filled: 1n }]);
  });

  it("by cancel or counter is undone with its block", async () => {
    const [bid, other] = [bidOf(), bidOf({ counter: 1n })];
    await happens(...funded, bid, other, cancelled(bid, { at: block(1, 2) }));
    const gone = [await stateOf(bid), await stateOf(other)];
    await setBlocks(db, "block_retracted", [block(1, 2)]);
    await happens(counterRaised(alice, 1n, { at: block(1, 3) }));
    const stale = [await stateOf(bid), await stateOf(other)];
    await happens(counterRead(alice, 0n, block(1, 4)));

    expect(gone).toEqual(["cancelled", "cancelled"]);
    expect(stale).toEqual(["cancelled", "active"]);
    expect([await stateOf(bid), await stateOf(other)]).toEqual(["active", "cancelled"]);
  });

  it("comes when the clock reaches it, and so does a start", async () => {
    const bid = bidOf({ startTime: 1_700_001_000n, endTime: 1_700_002_000n });
    await happens(...funded, bid, ticked(1_700_000_999n));
    const early = await stateOf(bid);
    await happens(ticked(1_700_001_000n));
    const begun = await stateOf(bid);
    await happens(ticked(1_700_001_999n));
    const late = await stateOf(bid);
    await happens(ticked(1_700_002_000n));

    expect([early, begun, late]).toEqual(["not_started", "active", "active"]);
    expect(await stateOf(bid)).toBe("expired");
  });

  it("is not an invalid signature, which may become valid again", async () => {
    const bid = bidOf();
    await happens(...funded, bid, signatureRead(bid, false, block(1, 2)));
    const refused = await stateOf(bid);
    await happens(signatureRead(bid, true, block(1, 3)));

    expect(refused).toBe("contract_signature_invalid");
    expect(await stateOf(bid)).toBe("active");
  });

  it("is not the refusal of a bidder's contract to take the units, which may take them later", async () => {
    const bid = bidOf();
    await happens(...funded, bid, recipientsRead(bid, alice, block(1, 2)));
    const refused = await stateOf(bid);
    await happens(recipientsRead(bid, null, block(1, 3)));

    expect(refused).toBe("transfer_restricted");
    expect(await stateOf(bid)).toBe("active");
  });
});

describe("a maker's open bids", () => {
  it("are summed while they are active or lack only the allowance", async () => {
    const now = new Date(1_700_000_600_000);
    const open = () => readOpenBidsWei(db, 1, alice, now);
    const [small, parts, ends] = [
      bidOf(),
      bidOf({ quantity: 3n }),
      bidOf({ unitPriceWei: 1_000n, endTime: 1_700_000_601n }),
    ];
    const tooMuch = bidOf({ unitPriceWei: 20_000n });
    await happens(deposited(alice, { at: block(1, 1), wei: 10_000n }), small, parts, ends, tooMuch);
    const unapproved = await open();
    await happens(approved(alice, { at: block(1, 2), wei: unlimited }));
    const all = await open();
    await happens(
      filled(parts, 1n, { at: block(1, 3) }),
      cancelled(small, { at: block(1, 3), log: 2 }),
    );

    expect([unapproved, all]).toEqual([1_400n, 1_400n]);
    expect(await open()).toBe(1_200n);
    expect(await readOpenBidsWei(db, 1, alice, new Date(1_700_000_601_000))).toBe(200n);
    expect(await readOpenBidsWei(db, 33139, alice, now)).toBe(0n);
  });
});

describe("a reorg", () => {
  it("of any fact leaves no trace", async () => {
    const [bid, other] = [bidOf({ quantity: 2n }), bidOf()];
    await happens(deposited(alice, { at: block(1, 1), wei: 300n }), bid, other);
    await happens(approved(alice, { at: block(1, 1), log: 1, wei: 300n }));
    const status = { kind: "order_status_read", orderHash: bid.orderHash } as const;
    const facts: ((at: Block) => Happening)[] = [
      (at) => deposited(alice, { at, wei: 5n }),
      (at) => withdrawn(alice, { at, wei: 150n }),
      (at) => moved(alice, bob, { at, wei: 300n }),
      (at) => moved(bob, alice, { at, wei: 300n }),
      (at) => approved(alice, { at, wei: 10n }),
      (at) => balanceRead(alice, 150n, at),
      (at) => allowanceRead(alice, 150n, at),
      (at) => filled(bid, 1n, { at }),
      (at) => filled(bid, 2n, { at }),
      (at) => cancelled(bid, { at }),
      (at) => counterRaised(alice, 1n, { at }),
      (at) => counterRead(alice, 3n, at),
      (at) => signatureRead(bid, false, at),
      (at) => recipientsRead(bid, alice, at),
      (at) => read({ ...status, cancelled: false, filled: 1n, size: 2n }, at),
      (at) => read({ ...status, cancelled: true, filled: 0n, size: 0n }, at),
    ];
    const clean = await dump();
    for (const [index, fact] of facts.entries()) {
      const at = block(1, 60, `orphaned ${index}`);
      await happens(fact(at));
      expect(await dump(), `fact ${index}`).not.toEqual(clean);
      await setBlocks(db, "block_retracted", [at]);
      await project(db, targets);
      expect(await dump(), `fact ${index}`).toEqual(clean);
    }
  });
});

describe("a bid on one token", () => {
  const standards = ["erc721", "erc1155"] as const;
  const on = (standard: (typeof standards)[number]) => {
    const contract = standard === "erc721" ? single : nft;
    const units = standard === "erc721" ? {} : { units: 3n };
    return {
      bid: bidOf({ contract, standard, tokenId: 7n }),
      moves: (from: Address, to: Address, number: number, tokenId = 7n) =>
        transferred({ contract, from, to, tokenId, ...units }, { at: block(1, number), log: 5 }),
    };
  };

  it.each(
    standards.flatMap((standard) => [zeroAddress, dead].map((to) => [standard, to] as const)),
  )("of %s is inactive while the token is burned (to %s)", async (standard, to) => {
    const { bid, moves } = on(standard);
    await happens(...funded, moves(zeroAddress, carol, 2), bid);
    const before = [await stateOf(bid), await readOpenBidsWei(db, 1, alice, openedAt)];
    await happens(moves(carol, bob, 3));
    const moved = await stateOf(bid);
    await happens(moves(bob, to, 4));
    const burned = [await stateOf(bid), await readOpenBidsWei(db, 1, alice, openedAt)];
    await happens(moves(to, carol, 5));

    expect(before).toEqual(["active", 100n]);
    expect(moved).toBe("active");
    expect(burned).toEqual(["token_burned", 0n]);
    expect(await stateOf(bid)).toBe("active");
  });

  it.each(standards)("of %s is as it was once the burn is retracted", async (standard) => {
    const { bid, moves } = on(standard);
    await happens(...funded, moves(zeroAddress, carol, 2), bid);
    const clean = await dump();
    await happens(moves(carol, zeroAddress, 3));
    const burned = await stateOf(bid);
    await setBlocks(db, "block_retracted", [block(1, 3)]);
    await project(db, targets);

    expect(burned).toBe("token_burned");
    expect(await dump()).toEqual(clean);
  });

  it.each(standards)(
    "of %s is inactive at once if the token is burned already",
    async (standard) => {
      const { bid, moves } = on(standard);
      await happens(...funded, moves(zeroAddress, carol, 2), moves(carol, dead, 3), bid);

      expect(await stateOf(bid)).toBe("token_burned");
    },
  );

  it.each(standards)("of %s does not depend on other tokens, nor on none", async (standard) => {
    const { bid, moves } = on(standard);
    const ofAny = bidOf({ contract: single, standard: "erc721" });
    const burnsOther = [moves(zeroAddress, carol, 2, 8n), moves(carol, dead, 3, 8n)];
    await happens(...funded, bid, ofAny, ...burnsOther);

    expect([await stateOf(bid), await stateOf(ofAny)]).toEqual(["active", "active"]);
  });

  it("is inactive when a range that holds the token is burned", async () => {
    const { bid, moves } = on("erc721");
    const range = (to: Address, number: number): ChainEvent => ({
      ...moves(number === 2 ? zeroAddress : carol, to, number, 5n),
      kind: "erc721_consecutive_transfer",
      amount: 10n,
    });
    await happens(...funded, range(carol, 2), bid);
    const before = await stateOf(bid);
    await happens(range(dead, 3));

    expect([before, await stateOf(bid)]).toEqual(["active", "token_burned"]);
  });
});

describe("bids of equal logs", () => {
  it.each(seedsOf([8, 4]))(
    "are equal at any position, in any windows and in bulk, seed %i",
    async (seed) => {
      const head = await play(randomFrom(seed), 200, randomFrom(seed + 1_000));
      const seen = new Set<string>();
      const positions = Array.from({ length: 40 }, (_, index) => (head * BigInt(index + 1)) / 40n);
      for (const limit of positions) {
        const derived = await deriveAt(limit);
        for (const state of (await states(schemas.bulk)).values()) seen.add(state);
        // The longer windows end at a few positions only.
        const live = limit === head / 2n || limit === head ? [...liveSchemas] : [schemas.one];
        for (const schema of live) {
          expect(await dumpAt(schema, limit), `${schema} at ${limit}`).toEqual(derived);
        }
      }
      expect([...seen].sort()).toEqual(everyState);
    },
  );
});

const liveSchemas = [schemas.one, schemas.seven, schemas.all] as const;
const maxFacts = { [schemas.one]: 1, [schemas.seven]: 7, [schemas.all]: 1_000_000 };
const everyState = [
  "active",
  "cancelled",
  "contract_signature_invalid",
  "expired",
  "filled",
  "insufficient_allowance",
  "insufficient_balance",
  "not_started",
  "token_burned",
  "transfer_restricted",
];

/** The tables of a bulk derivation that ends at a position. */
async function deriveAt(limit: bigint): Promise<string[][]> {
  await project(db, targets.slice(0, 1), undefined, limit);
  await dropTarget(db, schemas.bulk);
  await deriveInBulk(db, { projection: bidsProjection, schema: schemas.bulk }, undefined, {
    limit,
  });
  return await dump(schemas.bulk);
}

/** The tables of a schema, applied window by window up to a position. */
async function dumpAt(schema: (typeof liveSchemas)[number], limit: bigint): Promise<string[][]> {
  const followed = { projection: bidsProjection, schema };
  if (!(await readCheckpoints(db)).has(schema)) await createProjection(db, bidsProjection, schema);
  await project(db, [followed], maxFacts[schema], limit);
  return await dump(schema);
}

/** Appends a random history: facts in any order, blocks retracted and readopted. Returns the head. */
async function play(random: Random, steps: number, ofTokens: Random): Promise<bigint> {
  const bids: GivenOrder[] = [];
  const blocks = [block(1, 1)];
  for (let step = 0; step < steps; step += 1) {
    const at = block(1, random.int(1, 12), random.pick(["main", "main", "fork"]));
    blocks.push(at);
    const clock = clockAt(step / steps, step);
    if (ofTokens.chance(0.1)) {
      await append(tokenEvent(ofTokens, { bids, place: { at, log: steps + step }, clock }));
    }
    const made = happening(random, { bids, place: { at, log: step }, clock });
    if ("submitted" in made) bids.push(made);
    // Some have facts before they are submitted.
    if (!("submitted" in made) || random.chance(0.8)) await append(made);
    if (random.chance(0.08)) {
      const state = random.pick(["block_retracted", "block_readopted"] as const);
      await setBlocks(db, state, [random.pick(blocks), random.pick(blocks)]);
    }
  }
  for (const bid of random.shuffle(bids)) await append(bid);
  const { rows } = await sql<{ position: bigint }>`select position from log.head`.execute(db);
  return rows[0]?.position ?? 0n;
}

/** Late in a history all bids that ended without a fill may be compacted. */
const clockAt = (share: number, step: number) =>
  receivedAt + BigInt(share > 0.85 ? 32 * 86_400 : step);

type Scene = { bids: GivenOrder[]; place: { at: Block; log: number }; clock: bigint };

function happening(random: Random, scene: Scene): Happening {
  const bid = scene.bids.length === 0 ? freshBid(random, scene) : random.pick(scene.bids);
  return random.pick([
    () => freshBid(random, scene),
    () => accountEvent(random, scene),
    () => accountEvent(random, scene),
    () => orderEvent(random, scene, bid),
    () => reading(random, scene, bid),
  ])();
}

const people = [alice, bob, carol];
const tokenIds = [1n, 2n];

function freshBid(random: Random, { bids, clock }: Scene): GivenOrder {
  const tokenId = random.pick([null, ...tokenIds]);
  const isMany = bids.length % 4 !== 3;
  return bidOf({
    maker: random.pick(people),
    ...(isMany ? {} : { contract: single, standard: "erc721" }),
    unitPriceWei: BigInt(random.int(1, 6) * 100),
    quantity: BigInt(random.int(1, isMany ? 4 : 1)),
    ...(tokenId === null ? {} : { tokenId }),
    counter: random.chance(0.1) ? 1n : 0n,
    startTime: clock + BigInt(random.pick([-20, -20, 50, 5_000])),
    endTime: clock + BigInt(random.pick([5, 60, 9_000, 90_000])),
  });
}

function accountEvent(random: Random, { place }: Scene): ChainEvent {
  const [one, other] = [random.pick(people), random.pick(people)];
  const wei = BigInt(random.int(0, 1_500));
  return random.pick([
    () => deposited(one, { ...place, wei: wei * 2n }),
    () => deposited(one, { ...place, wei: wei * 2n }),
    () => withdrawn(one, { ...place, wei }),
    () => moved(one, other, { ...place, wei: wei % 4n === 0n ? 0n : wei }),
    () => approved(one, { ...place, wei: random.chance(0.3) ? unlimited : wei * 3n }),
    () => approved(one, { ...place, wei }),
  ])();
}

/** Contracts may name anybody as the owner before, and move what they have burned. */
function tokenEvent(random: Random, { place }: Scene): ChainEvent {
  const [from, to] = [
    random.pick([...people, zeroAddress]),
    random.pick([...people, zeroAddress, dead]),
  ];
  const tokenId = random.pick(tokenIds);
  const units = BigInt(random.int(1, 2));
  return random.pick<() => ChainEvent>([
    () => transferred({ contract: nft, from, to, tokenId, units }, place),
    () => transferred({ contract: single, from, to, tokenId }, place),
    () => ({
      ...transferred({ contract: single, from, to, tokenId }, place),
      kind: "erc721_consecutive_transfer",
      amount: units,
    }),
  ])();
}

function orderEvent(random: Random, { place, clock }: Scene, bid: GivenOrder): Happening {
  return random.pick([
    () => filled(bid, BigInt(random.int(1, Number(bid.quantity))), place),
    () => filled(bid, 1n, place),
    () => (random.chance(0.4) ? cancelled(bid, place) : ticked(clock)),
    () => (random.chance(0.2) ? counterRaised(random.pick(people), 1n, place) : ticked(clock)),
  ])();
}

function reading(random: Random, { place: { at } }: Scene, bid: GivenOrder): Observation {
  const one = random.pick(people);
  const wei = BigInt(random.int(0, 1_500));
  return random.pick([
    () => balanceRead(one, wei * 2n, at),
    () => allowanceRead(one, random.chance(0.2) ? unlimited : wei, at),
    () => counterRead(one, 0n, at),
    () => signatureRead(bid, random.chance(0.4), at),
    () => recipientsRead(bid, random.chance(0.6) ? alice : null, at),
    () =>
      read(
        {
          kind: "order_status_read",
          orderHash: bid.orderHash,
          cancelled: random.chance(0.1),
          filled: BigInt(random.int(0, 1)),
          size: random.pick([2n, 4n, 0n]),
        },
        at,
      ),
  ])();
}
