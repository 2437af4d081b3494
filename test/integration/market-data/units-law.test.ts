import { sql } from "kysely";
import { zeroAddress } from "viem";
import { afterAll, expect, it } from "vitest";
import { tick } from "#projections/engine/tick.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { type Random, randomFrom } from "#test/simulation/random.ts";
import {
  addressOf,
  appendEvents,
  block,
  type ChainEvent,
  createProjection,
  dropTargetsAndFacts,
  setBlocks,
} from "#test/support/database/given.ts";
import { createDatabase } from "#test/support/database/postgres.ts";
import { differenceOfRebuild } from "#test/support/database/rebuild-difference.ts";
import { seedsOf } from "#test/support/thoroughness.ts";

const database = await createDatabase();
const { db } = database;

afterAll(() => database.drop());

const HEIGHTS = 10;
const branches = ["a", "b"];
const dead = "0x000000000000000000000000000000000000dead";
const burnAddresses: readonly string[] = [zeroAddress, dead];

/** Transfers of a block of a branch, equal at every call: mints, burns and units out of nothing, some in batches. */
function eventsOf(height: number, branch: string): ChainEvent[] {
  const random = randomFrom(height * 17 + branch.charCodeAt(0));
  const holder = () => addressOf(random.int(1, 3));
  return Array.from({ length: random.int(1, 4) }, (_, logIndex) => {
    const common = { block: block(1, height, branch), logIndex, contract: addressOf(60) };
    return Array.from({ length: random.int(1, 3) }, (__, subIndex): ChainEvent => {
      const to = random.chance(0.15) ? random.pick([zeroAddress, dead] as const) : holder();
      const from = random.chance(0.25) ? random.pick([zeroAddress, dead] as const) : holder();
      const tokenId = BigInt(random.int(1, 3));
      const units = { kind: "erc1155_transfer" as const, amount: BigInt(random.int(0, 6)) };
      return { ...common, ...units, subIndex, from, to, tokenId };
    });
  }).flat();
}

/** A block is recorded, retracted or readopted. */
async function happens(random: Random): Promise<void> {
  await appendEvents(db, eventsOf(random.int(1, HEIGHTS), random.pick(branches)));
  if (random.chance(0.6)) {
    const state = random.chance(0.6) ? "block_retracted" : "block_readopted";
    await setBlocks(db, state, [block(1, random.int(1, HEIGHTS), random.pick(branches))]);
  }
}

type Move = { token_id: bigint; sender: string; receiver: string; amount: bigint };

/** What is effective, in chain order. */
async function effectiveMoves(): Promise<Move[]> {
  const { rows } = await sql<Move>`
    select f.token_id, f.from_address as sender, f.to_address as receiver, f.amount from log.fact f
    where f.kind = 12 and f.position <= (select position from engine.checkpoint)
      and f.block_id not in (select block_id from log.retracted_blocks((select position from engine.checkpoint)))
    order by f.block_id, f.log_index, f.sub_index`.execute(db);
  return rows;
}

const none = { transfers: 0n, burned: 0n, unlogged: 0n };

/** One move after the other: nobody is ever below zero. */
function expectedUnits(moves: readonly Move[]) {
  const balances = new Map<string, bigint>();
  const tokens = new Map<bigint, { transfers: bigint; burned: bigint; unlogged: bigint }>();
  const give = (key: string, units: bigint) => balances.set(key, (balances.get(key) ?? 0n) + units);
  for (const { token_id, sender, receiver, amount } of moves) {
    const { transfers, burned, unlogged } = tokens.get(token_id) ?? none;
    const [from, to] = [`${token_id} ${sender}`, `${token_id} ${receiver}`];
    const held = sender === zeroAddress ? amount : (balances.get(from) ?? 0n);
    const lack = held < amount ? amount - held : 0n;
    give(from, lack - amount);
    give(to, amount);
    tokens.set(token_id, {
      transfers: transfers + 1n,
      burned: burned + (burnAddresses.includes(receiver) ? amount : 0n),
      unlogged: unlogged + lack,
    });
  }
  for (const key of balances.keys()) if (key.endsWith(zeroAddress)) balances.delete(key);
  return { balances, tokens };
}

async function storedUnits() {
  const balances = await sql<{ token_id: bigint; owner: string; units: bigint }>`
    select token_id, owner, units from ownership.balance order by token_id, owner`.execute(db);
  const tokens = await sql`
    select token_id, transfers, burned, unlogged, supply, is_burned from ownership.token order by token_id`.execute(
    db,
  );
  const counts = await sql`select tokens, supply, units, holders from ownership.collection`.execute(
    db,
  );
  return { balances: balances.rows, tokens: tokens.rows, counts: counts.rows };
}

function expectedRows(moves: readonly Move[]) {
  const { balances, tokens } = expectedUnits(moves);
  const held = [...balances]
    .filter(([, units]) => units > 0n)
    .map(([key, units]) => ({ key, units }))
    .toSorted((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ key, units }) => {
      const [id = "", owner = ""] = key.split(" ");
      return { token_id: BigInt(id), owner, units };
    });
  const kept = held.filter(({ owner }) => !burnAddresses.includes(owner));
  const supplyOf = (id: bigint) =>
    kept.filter(({ token_id }) => token_id === id).reduce((sum, { units }) => sum + units, 0n);
  const rows = [...tokens]
    .toSorted(([one], [other]) => Number(one - other))
    .map(([token_id, token]) => {
      const supply = supplyOf(token_id);
      return { token_id, ...token, supply, is_burned: supply === 0n && token.burned > 0n };
    });
  const counts = {
    tokens: BigInt(rows.length),
    supply: BigInt(rows.filter(({ supply }) => supply > 0n).length),
    units: rows.reduce((sum, { supply }) => sum + supply, 0n),
    holders: BigInt(new Set(kept.map(({ owner }) => owner)).size),
  };
  return { balances: held, tokens: rows, counts: rows.length === 0 ? [] : [counts] };
}

it.each(seedsOf([1, 2, 3, 4, 5, 6], 2))(
  "units are what transfers prove in chain order, in any windows of any history, seed %i",
  async (seed) => {
    await dropTargetsAndFacts(db);
    const target = await createProjection(db, ownershipProjection);
    const random = randomFrom(seed);
    for (let step = 0; step < 40; step += 1) {
      for (let more = random.int(1, 3); more > 0; more -= 1) await happens(random);
      await tick(db, [target], random.int(1, 25));
      expect(await storedUnits()).toEqual(expectedRows(await effectiveMoves()));
    }
    expect(await differenceOfRebuild(db, ownershipProjection)).toMatchObject({ different: 0n });
  },
);
