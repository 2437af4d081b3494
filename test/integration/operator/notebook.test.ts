import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { seaportAddresses } from "#abis/deployments.ts";
import { wrappedNative } from "#chains/index.ts";
import { contractRoyaltyStated } from "#projections/collections/facts.ts";
import { floorSnapshotted } from "#projections/collections/floors.ts";
import { appendObservations } from "#projections/log/append.ts";
import { duckdbEngine } from "#test/support/database/analytics-engines.ts";
import {
  addressOf,
  appendEvents,
  block,
  type ChainEvent,
  project,
  zeroAddress,
} from "#test/support/database/given.ts";
import { apes, operate, orderHashOf, prepare } from "#test/support/database/operator.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { approval, givenBid, givenListing, read } from "#test/support/orders/order-facts.ts";

const root = join(import.meta.dirname, "../../..");
const eth = 10n ** 18n;
const [alice, bob, carol, erin, creator] = [1, 2, 3, 4, 9].map(addressOf) as [
  ...[`0x${string}`, `0x${string}`, `0x${string}`, `0x${string}`, `0x${string}`],
];
/** Blocks of these numbers are a day apart: 2023-11-14 to 16, shortly after 22:13. */
const [monday, tuesday, wednesday] = [0, 7_200, 14_400] as [number, number, number];

const ended = block(1, wednesday + 1);

const mint = (tokenId: bigint, to: typeof alice): ChainEvent => ({
  ...{ kind: "erc721_transfer", block: block(1, 1), logIndex: Number(tokenId), contract: apes },
  ...{ tokenId, from: zeroAddress, to },
});

type Sale = { at: number; tokenId: bigint; from: typeof alice; to: typeof alice };

/** A sale for `tenths` of an ETH, of which `hundredths` go to the creator. */
function sale({ at, tokenId, from, to }: Sale, tenths: bigint, hundredths = 0n): ChainEvent[] {
  const paid = { token: zeroAddress, itemType: 0, identifier: "0" };
  const royalty = (hundredths * eth) / 100n;
  const parts = [
    { ...paid, amount: `${(tenths * eth) / 10n - royalty}`, recipient: from },
    { ...paid, amount: `${royalty}`, recipient: creator },
  ];
  const item = { token: apes, itemType: 2, identifier: `${tokenId}`, amount: "1" };
  const [where, place] = [block(1, at), { transactionIndex: 2 }];
  return [
    {
      ...{ ...place, kind: "erc721_transfer", block: where, logIndex: 1, contract: apes },
      ...{ tokenId, from, to },
    },
    {
      ...{ ...place, kind: "order_fulfilled", block: where, logIndex: 2, from, to },
      ...{ contract: seaportAddresses["1.6"], orderHash: orderHashOf(at) },
      payload: {
        ...{
          zone: zeroAddress,
          offer: [item],
          consideration: parts.slice(0, royalty > 0n ? 2 : 1),
        },
        ...{ sender: to, target: seaportAddresses["1.6"], calldataTail: null },
      },
    },
  ];
}

const floorsAt = [
  ["2023-11-14T23:00:00Z", 20n],
  ["2023-11-15T12:00:00Z", 15n],
  ["2023-11-15T13:00:00Z", 18n],
] as const;

/** An order for tenths of an ETH that does not end. */
const termsOf = (maker: typeof alice, tenths: bigint) => ({
  ...{ contract: apes, maker, unitPriceWei: (tenths * eth) / 10n, endTime: 4_000_000_000n },
});

let database: TestDatabase;
let folder: string;
let answers: Map<number, (string | null)[][]>;

beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  const { db } = database;
  folder = await mkdtemp(join(tmpdir(), "notebook-"));
  await appendEvents(db, [
    ...[1n, 2n, 3n, 4n].map((id) => mint(id, alice)),
    mint(5n, erin),
    ...sale({ at: monday + 2, tokenId: 1n, from: alice, to: bob }, 10n, 5n),
    ...sale({ at: monday + 3, tokenId: 2n, from: alice, to: bob }, 20n),
    ...sale({ at: tuesday, tokenId: 1n, from: bob, to: carol }, 30n, 15n),
    ...sale({ at: tuesday + 2, tokenId: 3n, from: alice, to: carol }, 100n),
    ...sale({ at: tuesday + 3, tokenId: 3n, from: carol, to: alice }, 100n),
    ...sale({ at: wednesday, tokenId: 2n, from: bob, to: carol }, 15n),
    approval(apes, alice, true, { at: ended, log: 1 }),
    approval(apes, carol, true, { at: ended, log: 2 }),
  ]);
  const funds = { currency: wrappedNative[1], owner: erin, wei: eth } as const;
  const minted = block(1, 1);
  await appendObservations(db, [
    contractRoyaltyStated({
      ...{ chainId: 1, contract: apes, royalty: { recipient: creator, bps: 500 } },
      basis: { number: 1n, hash: minted.hash, timestamp: new Date(minted.timestamp * 1_000) },
    }),
    ...floorsAt.map(([time, tenths], index) => {
      const before = floorsAt[index - 1];
      return floorSnapshotted({
        ...{ chainId: 1, takenAtMs: Date.parse(time) },
        floors: new Map([[apes, (tenths * eth) / 10n]]),
        base: before
          ? {
              takenAtMs: Date.parse(before[0]),
              floors: new Map([[apes, (before[1] * eth) / 10n]]),
            }
          : null,
      });
    }),
    ...(
      [
        [alice, 3n, 18n],
        [alice, 4n, 19n],
        [carol, 1n, 26n],
      ] as const
    ).map(
      ([maker, tokenId, tenths]) => givenListing({ ...termsOf(maker, tenths), tokenId }).submitted,
    ),
    // Bob's would beat it, but he has nothing to pay it with.
    ...[givenBid(termsOf(erin, 9n)), givenBid(termsOf(bob, 10n))].map(({ submitted }) => submitted),
    read({ kind: "balance_read", ...funds }, ended),
    read({ kind: "allowance_read", ...funds }, ended),
  ]);
  await project(db, await prepare(db));
  for (const what of ["sales", "transfers", "listings", "bids", "floors"]) {
    const { code, words } = await operate(
      ...[database.url, "export", what, "--by-day", join(folder, what)],
    );
    expect([what, code, words]).toEqual([what, 0, expect.stringContaining("rows in")]);
  }
  answers = await askNotebook();
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await database?.drop();
});

/** The answers of the notebook's questions, by their numbers, with this chain and contract. */
async function askNotebook(): Promise<typeof answers> {
  const text = await readFile(join(root, "docs/notebook/market.sql"), "utf8");
  const here = text.replace("chain = 33139", "chain = 1").replace(/'0x0+a032'/, `'${apes}'`);
  const [head = "", ...questions] = here.split(/^\.print ## (?=\d+\.)/m);
  return await duckdbEngine(folder).asking(async (ask) => {
    await ask(head);
    const found: typeof answers = new Map();
    for (const question of questions) {
      const [title = "", ...statement] = question.split("\n");
      const rows = await ask(statement.join("\n"));
      found.set(Number.parseInt(title, 10), rows as (string | null)[][]);
    }
    return found;
  });
}

/** Numbers without the zeros that a type gives them. */
const plain = (number: number) =>
  answers
    .get(number)
    ?.map((row) =>
      row.map((cell) => (cell !== null && /^-?\d+(\.\d+)?$/.test(cell) ? Number(cell) : cell)),
    );

it("has ten questions", () => {
  expect([...answers.keys()]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

it("tells the volume by day and exchange, and wash trades apart", () => {
  expect(plain(1)).toEqual([
    ["2023-11-14", "seaport", 2, 3],
    ["2023-11-15", "seaport", 1, 3],
    ["2023-11-16", "seaport", 1, 1.5],
  ]);
  expect(plain(2)).toEqual([
    ["back_and_forth", 2, 20],
    ["none", 4, 7.5],
  ]);
});

it("follows the floor, and compares what was paid and what is offered with it", () => {
  expect(plain(3)).toEqual([
    ["2023-11-14", 2, 2, 2],
    ["2023-11-15", 1.8, 1.5, 1.8],
  ]);
  expect(plain(7)).toEqual([[erin, 0.9, 1.8, 50]]);
  expect(plain(10)).toEqual([
    ["2023-11-15", 1, 166.67],
    ["2023-11-16", 1, 83.33],
  ]);
});

it("counts holders, and how long sellers held", () => {
  expect(plain(4)).toEqual([
    [1, 1, 1],
    ["2 to 5", 2, 4],
  ]);
  // 12 s, 24 s, a day less two blocks, and two days less three.
  expect(plain(8)).toEqual([["2023-11-01", 4, (24 + (tuesday - 2) * 12) / 2 / 3_600]]);
});

it("tells profits by what reached the seller, and royalties that were paid", () => {
  // Bob paid 1 and 2, and got 3 without 0.15, and 1.5. Alice bought nothing that she sold.
  expect(plain(5)).toEqual([[bob, 2, 1.35]]);
  expect(plain(6)).toEqual([[apes, 4, 2, 0.2, 2.67]]);
});

it("tells the depth of the book", () => {
  expect(plain(9)).toEqual([
    [10, 2, 1.9],
    [25, 2, 1.9],
    [50, 3, 2.6],
    [100, 3, 2.6],
  ]);
});
