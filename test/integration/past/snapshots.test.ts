import { StandardMerkleTree } from "@openzeppelin/merkle-tree";
import { sql } from "kysely";
import type { Address } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createPermanentKey } from "#api/keys/stored-keys.ts";
import { allProjections } from "#projections/all.ts";
import { addressOf, block, type ChainEvent, zeroAddress } from "#test/support/database/given.ts";
import { makeAccount, openNftDataApp } from "#test/support/http/nft-data-fixture.ts";
import { type ApiClient, documentedAt, serve } from "#test/support/http/openapi.ts";
import { accountIdOf } from "#test/support/http/served-webhooks.ts";
import { feeRecipient } from "#test/support/orders/order-facts.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";

const [punks, editions] = [addressOf(70), addressOf(71)];
const [alice, bob, carol] = [addressOf(1), addressOf(2), addressOf(3)];
const taken = block(1, 14, "taken");

let log: Awaited<ReturnType<typeof openProjectedLog>>;
let served: ApiClient;
let api: ApiClient;
let key: string;

beforeAll(async () => {
  log = await openProjectedLog(allProjections({ feeRecipient }));
  await log.clear();
  await log.happens(
    ...[1n, 2n, 3n].map((tokenId) => punk(10, Number(tokenId), zeroAddress, alice, tokenId)),
    edition(11, zeroAddress, bob, 7n, 40n),
    edition(11, zeroAddress, carol, 8n, 2n),
    punk(12, 1, alice, bob, 1n),
    punk(13, 1, alice, zeroAddress, 3n),
  );
  await log.happens({ ...punk(14, 1, alice, carol, 2n), block: taken });
  await log.retract(taken);
  await log.happens(punk(15, 1, bob, carol, 1n), punk(20, 1, carol, bob, 1n));
  await sql`insert into ops.chain_finality (chain_id, number, said_by) values (1, 15, 'tag')`.execute(
    log.db,
  );
  served = await serve(openNftDataApp(log.db, { limits: { keyless: 0, account: 0 } }));
  api = await documentedAt(served.url, { base: "", path: "/v1/openapi.json" });
  key = await makeKey();
});
afterAll(async () => {
  await served?.close();
  await log?.drop();
});

async function makeKey(): Promise<string> {
  const accountId = await accountIdOf(log.db, (await makeAccount(log.db)).email);
  const asked = { name: "airdrop", perMinute: null, accountId };
  return (await createPermanentKey(log.db, asked)).key;
}

function punk(
  height: number,
  logIndex: number,
  from: Address,
  to: Address,
  tokenId: bigint,
): ChainEvent {
  const event = { kind: "erc721_transfer", contract: punks, from, to, tokenId } as const;
  return { ...event, block: block(1, height), logIndex };
}

function edition(
  height: number,
  from: Address,
  to: Address,
  tokenId: bigint,
  amount: bigint,
): ChainEvent {
  const event = {
    kind: "erc1155_transfer",
    contract: editions,
    from,
    to,
    tokenId,
    amount,
  } as const;
  return { ...event, block: block(1, height), logIndex: Number(tokenId) };
}

const Snapshot = z.looseObject({
  snapshotId: z.string(),
  root: z.string(),
  holders: z.int(),
  units: z.string(),
  createdAt: z.string(),
});

const usual = { chainId: 1, name: "friends", at: "12", collections: [{ collection: punks }] };

const post = (body: object, ownKey: string | null = key) =>
  api.post("/v1/snapshots", body, ownKey === null ? {} : { "x-api-key": ownKey });

async function make(body: object) {
  const { status, body: answer } = await post({ ...usual, ...body });
  expect([status, answer]).toMatchObject([
    expect.toSatisfy((one) => one === 200 || one === 201),
    {},
  ]);
  return { status, ...z.object({ data: Snapshot }).parse(answer).data };
}

const Rows = z.object({
  data: z.array(z.object({ rank: z.int(), address: z.string(), units: z.string() })),
  meta: z.object({ next_cursor: z.string().nullable() }),
});

async function holdersOf(snapshotId: string, perPage = 100): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for (let more = ""; ; ) {
    const { body } = await api.get(
      `/v1/snapshots/${snapshotId}/holders?per_page=${perPage}${more}`,
    );
    const { data, meta } = Rows.parse(body);
    for (const { rank, address, units } of data) {
      found.push([address, units]);
      expect(rank).toBe(found.length);
    }
    if (meta.next_cursor === null) return found;
    more = `&cursor=${meta.next_cursor}`;
  }
}

const proofOf = (snapshotId: string, wallet: string) =>
  api.get(`/v1/snapshots/${snapshotId}/proof?wallet=${wallet}`);

describe("a snapshot", () => {
  it("has who held units of all its collections at the block, most first, with the root that OpenZeppelin's library makes", async () => {
    const { snapshotId, root, ...made } = await make({
      collections: [{ collection: punks }, { collection: editions }],
    });
    expect(made).toMatchObject({
      ...{ status: 201, name: "friends", block: 12, hash: block(1, 12).hash },
      ...{ holders: 3, units: "45", leafEncoding: ["address", "uint256"] },
    });
    const holders = await holdersOf(snapshotId, 1);
    expect(holders).toEqual([[bob, "41"], ...[alice, carol].toSorted().map((one) => [one, "2"])]);
    const tree = StandardMerkleTree.of(holders, ["address", "uint256"]);
    expect(root).toBe(tree.root);
    for (const [place, [address, units]] of holders.entries()) {
      const { body } = await proofOf(snapshotId, address);
      expect(body).toMatchObject({ data: { address, units, root, proof: tree.getProof(place) } });
    }
    const csv = await (await fetch(`${served.url}/v1/snapshots/${snapshotId}/holders.csv`)).text();
    expect(csv).toBe(["address,units", ...holders.map((one) => one.join()), ""].join("\n"));
    const { body } = await api.get(`/v1/snapshots/${snapshotId}`);
    expect(body).toMatchObject({ data: { snapshotId, root, holders: 3 } });
  });

  it("is the same for ever, however it is asked for", async () => {
    const terms = { collections: [{ collection: editions }, { collection: punks }] };
    const first = await make({ ...terms, name: "again", excluded: [carol, alice, carol] });
    expect(first.status).toBe(201);
    const again = await make({
      ...{ name: "again", at: block(1, 12).hash, minUnits: "1", excluded: [alice, carol] },
      collections: [
        { collection: punks },
        { collection: editions.toUpperCase().replace("0X", "0x"), tokenIds: ["7"] },
        { collection: editions },
      ],
    });
    expect(again).toEqual({ ...first, status: 200 });
    const renamed = await make({ ...terms, name: "other", excluded: [alice, carol] });
    expect(renamed.root).toBe(first.root);
    expect(renamed.snapshotId).not.toBe(first.snapshotId);
  });

  it("leaves out burned tokens, excluded wallets, and those with too few units", async () => {
    const all = { at: "15", collections: [{ collection: punks }, { collection: editions }] };
    const whole = await make({ ...all, name: "whole" });
    expect(new Map(await holdersOf(whole.snapshotId))).toEqual(
      new Map([
        [alice, "1"],
        [bob, "40"],
        [carol, "3"],
      ]),
    );
    const part = await make({ ...all, name: "part", minUnits: "3", excluded: [bob] });
    expect(await holdersOf(part.snapshotId)).toEqual([[carol, "3"]]);
    expect((await proofOf(part.snapshotId, bob)).body).toMatchObject({ code: "not_found" });
    expect((await proofOf(part.snapshotId, carol)).body).toMatchObject({ data: { proof: [] } });
  });

  it("counts the named ids alone", async () => {
    const collections = [
      { collection: editions, tokenIds: ["8", "9"] },
      { collection: punks, tokenIds: ["1"] },
    ];
    const { snapshotId } = await make({ name: "ids", collections });
    expect(new Map(await holdersOf(snapshotId))).toEqual(
      new Map([
        [carol, "2"],
        [bob, "1"],
      ]),
    );
  });

  it("of a block in which nothing happened has no hash", async () => {
    const odd = await make({ name: "between", at: "14" });
    expect(odd).toMatchObject({ block: 14, hash: null, time: null });
    expect(await holdersOf(odd.snapshotId)).toHaveLength(2);
  });

  it("is stored whatever reorgs come above it", async () => {
    const before = await make({ name: "stays", at: "15" });
    const later = { ...punk(21, 1, bob, alice, 1n), block: block(1, 21, "short") };
    await log.happens(later);
    await log.retract(block(1, 21, "short"), block(1, 20));
    expect(await make({ name: "stays", at: "15" })).toEqual({ ...before, status: 200 });
    await sql`truncate ops.holder_snapshot, ops.snapshot_holder`.execute(log.db);
    const { createdAt: _, ...made } = await make({ name: "stays", at: "15" });
    const { createdAt: __, ...same } = before;
    expect(made).toEqual(same);
  });
});

describe("a snapshot is refused", () => {
  it.each([
    ["of a block that a reorg may still take back", { at: "16" }, 422, "point_not_reached"],
    ["of a block that a reorg took back", { at: taken.hash }, 409, "block_retracted"],
    ["of an unknown block", { at: block(1, 99).hash }, 404, "block_unknown"],
    ["before the first block", { at: "9" }, 422, "point_not_covered"],
    ["of an unknown collection", { collections: [{ collection: "none" }] }, 404, "not_found"],
    ["of no collection", { collections: [] }, 422, "bad_structure"],
    ["of no moment", { at: "latest" }, 422, "bad_structure"],
    ["without a name", { name: "" }, 422, "bad_structure"],
    ["of nobody", { minUnits: "1000" }, 422, "snapshot_empty"],
    ["with a minimum of nothing", { minUnits: "0" }, 422, "bad_structure"],
    [
      "of too many ids",
      { collections: [{ collection: punks, tokenIds: Array.from({ length: 501 }, String) }] },
      422,
      "bad_structure",
    ],
  ])("%s", async (_, more, status, code) => {
    const answer = await post({ ...usual, ...more });
    expect([answer.status, answer.body]).toMatchObject([status, { code }]);
  });

  it("while its block is not final", async () => {
    await log.happens(punk(22, 1, carol, bob, 1n));
    const { status, body } = await post({ ...usual, at: "22" });
    expect([status, body]).toMatchObject([409, { code: "block_not_final" }]);
  });

  it("without a key of an account", async () => {
    expect((await post(usual, null)).body).toMatchObject({ code: "key_required" });
    const asked = { name: "of nobody", perMinute: null };
    const { key: lonely } = await createPermanentKey(log.db, asked);
    expect((await post(usual, lonely)).body).toMatchObject({ code: "account_required" });
  });

  it("once the account has stored its rows of the day, for it alone", async () => {
    const own = await makeKey();
    expect((await post({ ...usual, name: "first" }, own)).status).toBe(201);
    await sql`update ops.order_budget set spent = 1000000 where subject = 'snapshots'
      and spent = (select min(spent) from ops.order_budget where subject = 'snapshots')`.execute(
      log.db,
    );
    const { status, body, headers } = await post({ ...usual, name: "second" }, own);
    expect([status, body]).toMatchObject([429, { code: "rate_limited" }]);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(60);
    expect((await post({ ...usual, name: "first" }, own)).status).toBe(200);
    expect((await post({ ...usual, name: "third" })).status).toBe(201);
  });

  it("for another id than a snapshot's", async () => {
    const unknown = `0x${"0".repeat(64)}`;
    for (const path of ["", "/holders", `/proof?wallet=${alice}`])
      expect((await api.get(`/v1/snapshots/${unknown}${path}`)).status).toBe(404);
    expect((await fetch(`${served.url}/v1/snapshots/${unknown}/holders.csv`)).status).toBe(404);
  });
});
