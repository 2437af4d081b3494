import { sql } from "kysely";
import type { Address } from "viem";
import { afterAll, expect, it } from "vitest";
import { collectionsProjection } from "#projections/collections/collections.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { type Point, resolvePoint } from "#projections/engine/point.ts";
import type { Database } from "#projections/log/database.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { readHolders } from "#projections/tokens/read-holders.ts";
import { readPastHolders } from "#projections/tokens/read-past-holders.ts";
import { readPastToken } from "#projections/tokens/read-past-token.ts";
import { readPastWalletTokens } from "#projections/tokens/read-past-wallet.ts";
import { readToken } from "#projections/tokens/read-token.ts";
import { readWalletTokens, type WalletToken } from "#projections/tokens/read-wallet-tokens.ts";
import { type Random, randomFrom } from "#test/simulation/random.ts";
import { addressOf, appendEvents, block, type ChainEvent } from "#test/support/database/given.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";
import { seedsOf } from "#test/support/thoroughness.ts";

const projections = [ownershipProjection, collectionsProjection];
const live = await openProjectedLog(projections);
/** What a database is that was stopped at a block: it has the blocks up to it alone. */
const stopped = await openProjectedLog(projections);
afterAll(async () => {
  await live.drop();
  await stopped.drop();
});

const HEIGHTS = 10;
const dead: Address = "0x000000000000000000000000000000000000dead";
const zero: Address = "0x0000000000000000000000000000000000000000";
const contracts = [addressOf(60), addressOf(61), addressOf(62)];
const people = [1, 2, 3, 4].map((index) => addressOf(index));

/** Transfers of both standards, alone and in ranges, of the same ids: what standards forbid is as likely as the rest. */
function eventsOf(height: number, branch: string): ChainEvent[] {
  const random = randomFrom(height * 37 + branch.charCodeAt(0));
  return Array.from({ length: random.int(1, 7) }, (_, logIndex) => ({
    ...drawTransfer(random),
    block: block(1, height, branch),
    logIndex,
  }));
}

function drawTransfer(random: Random): Pick<ChainEvent, "kind" | "contract"> & Partial<ChainEvent> {
  const [first, second, third] = contracts;
  const kind = random.pick([
    ...(["erc721_transfer", "erc721_transfer", "erc1155_transfer", "erc1155_transfer"] as const),
    "erc721_consecutive_transfer" as const,
  ]);
  // One contract has ranges, one only single transfers, one only units.
  const usual = { erc721_transfer: first, erc1155_transfer: second };
  const contract = kind === "erc721_consecutive_transfer" ? third : usual[kind];
  return {
    kind,
    contract: (random.chance(0.25) ? third : contract) ?? addressOf(60),
    from: random.chance(0.3) ? zero : random.pick(people),
    to: random.chance(0.15) ? random.pick([dead, zero]) : random.pick(people),
    tokenId: BigInt(random.int(1, 6)),
    ...(kind === "erc721_transfer" ? {} : { amount: BigInt(random.int(0, 4)) }),
  };
}

/** Branches that the heights have in the end; others were recorded and taken back, before or after later blocks. */
async function playHistory(random: Random): Promise<string[]> {
  await live.clear();
  const kept = Array.from({ length: HEIGHTS + 1 }, () => random.pick(["a", "b", "c"]));
  for (let height = 1; height <= HEIGHTS; height += 1) {
    for (const branch of random.shuffle(["a", "b", "c"])) {
      if (branch !== kept[height] && random.chance(0.4)) continue;
      await live.happens(...eventsOf(height, branch));
      if (branch !== kept[height]) await live.retract(block(1, height, branch));
    }
    if (random.chance(0.3)) {
      const back = random.int(1, height);
      await live.retract(block(1, back, kept[back]));
      await live.readopt(block(1, back, kept[back]));
    }
  }
  return kept;
}

async function stopAt(height: number, kept: readonly string[]): Promise<void> {
  await stopped.clear();
  const facts = Array.from({ length: height }, (_, at) => eventsOf(at + 1, kept[at + 1] ?? "a"));
  await appendEvents(stopped.db, facts.flat());
  await stopped.happens();
}

async function contractIds(db: Database): Promise<Map<Address, number>> {
  const { rows } = await sql<{ address: Address; id: number }>`
    select address, contract_id as id from log.contract`.execute(db);
  return new Map(rows.map(({ address, id }) => [address, id]));
}

async function pointAt(height: number): Promise<Point> {
  const point = await resolvePoint(live.db, 1, { block: BigInt(height) });
  if (isRejection(point)) throw new Error(point.message);
  return point;
}

const all = { limit: 1_000, after: null };

async function compareContract(contract: Address, point: Point): Promise<void> {
  const [now, then] = [await contractIds(live.db), await contractIds(stopped.db)];
  const [ours, theirs] = [now.get(contract) ?? 0, then.get(contract) ?? 0];
  const expected = await readHolders(stopped.db, [theirs], all);
  const found = await readPastHolders(live.db, [ours], point, all);
  const about = [contract, point.block];
  expect([...about, found.rows]).toEqual([...about, expected]);
  expect(found.total).toBe(BigInt(expected.length));
  for (let id = 1n; id <= 10n; id += 1n) {
    const token = await readPastToken(live.db, [ours], id, point);
    const { heldBy: _, ...row } = token ?? { heldBy: [] };
    const stored = await readToken(stopped.db, [theirs], id);
    const own = stored === null ? {} : { ...stored, contractId: ours };
    expect([...about, id, row]).toEqual([...about, id, own]);
  }
}

async function compareWallet(wallet: Address, point: Point): Promise<void> {
  const filter = { chainId: 1, wallet, contractIds: null };
  const named = async (db: Database, tokens: readonly WalletToken[]) => {
    const addresses = new Map([...(await contractIds(db))].map(([address, id]) => [id, address]));
    return tokens
      .map((one) => `${addresses.get(one.contractId)} ${one.tokenId} ${one.standard} ${one.units}`)
      .toSorted();
  };
  const expected = await readWalletTokens(stopped.db, filter, all);
  const found = await readPastWalletTokens(live.db, filter, point, all);
  const about = [wallet, point.block];
  expect([...about, await named(live.db, found)]).toEqual([
    ...about,
    await named(stopped.db, expected),
  ]);
  const paged: WalletToken[] = [];
  for (let after: WalletToken | null = null; ; ) {
    const page = await readPastWalletTokens(live.db, filter, point, { limit: 2, after });
    paged.push(...page);
    after = page.at(-1) ?? null;
    if (page.length < 2) break;
  }
  expect(paged).toEqual(found);
}

it.each(seedsOf([1, 2, 3, 4, 5, 6], 2))(
  "every block's past is what a database has that was stopped there, whatever was taken back, seed %i",
  async (seed) => {
    const random = randomFrom(seed);
    const kept = await playHistory(random);
    for (let height = 1; height <= HEIGHTS; height += 1) {
      await stopAt(height, kept);
      const point = await pointAt(height);
      for (const contract of contracts) await compareContract(contract, point);
      for (const person of people) await compareWallet(person, point);
    }
  },
);
