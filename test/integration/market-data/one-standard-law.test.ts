import { sql } from "kysely";
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
const kinds = ["erc721_transfer", "erc721_consecutive_transfer", "erc1155_transfer"] as const;
/** How often each is drawn. */
const drawn = [
  ...Array(6).fill(kinds[0]),
  kinds[1],
  ...Array(3).fill(kinds[2]),
] as readonly (typeof kinds)[number][];

/** Events of a contract that tells of its tokens by both standards, equal at every call. */
function eventsOf(height: number, branch: string): ChainEvent[] {
  const random = randomFrom(height * 13 + branch.charCodeAt(0));
  return Array.from({ length: random.int(1, 3) }, (_, logIndex): ChainEvent => {
    const kind = random.pick(drawn);
    return {
      kind,
      block: block(1, height, branch),
      logIndex,
      contract: addressOf(70),
      from: addressOf(random.int(1, 3)),
      to: addressOf(random.int(1, 3)),
      tokenId: BigInt(random.int(1, 8)),
      ...(kind === "erc721_transfer" ? {} : { amount: BigInt(random.int(1, 4)) }),
    };
  });
}

async function happens(random: Random): Promise<void> {
  await appendEvents(db, eventsOf(random.int(1, HEIGHTS), random.pick(branches)));
  if (random.chance(0.6)) {
    const state = random.chance(0.6) ? "block_retracted" : "block_readopted";
    await setBlocks(db, state, [block(1, random.int(1, HEIGHTS), random.pick(branches))]);
  }
}

type Token = { id: bigint; standard: number; owner: string | null };

async function storedTokens(): Promise<Token[]> {
  const { rows } = await sql<Token>`
    select token_id as id, standard, owner from ownership.token
    union all
    select generate_series(first_id, last_id), 721, owner from ownership.token_range
    order by 1, 2`.execute(db);
  return rows;
}

/** Each id by its ERC-1155 transfers, if it has any; else by the last that ERC-721 events say. */
async function expectedTokens(): Promise<Token[]> {
  const { rows } = await sql<{ id: bigint; kind: number; owner: string; block_id: bigint }>`
    select f.token_id + step as id, f.kind, f.to_address as owner, f.block_id from log.fact f
    cross join lateral generate_series(0, case f.kind when 11 then f.amount else 1 end - 1) step
    where f.kind in (10, 11, 12) and f.position <= (select position from engine.checkpoint)
      and f.block_id not in (select block_id from log.retracted_blocks((select position from engine.checkpoint)))
    order by f.block_id, f.log_index`.execute(db);
  const tokens = new Map<bigint, Token>();
  for (const { id, kind, owner } of rows) {
    if (kind === 12) tokens.set(id, { id, standard: 1155, owner: null });
    else if (tokens.get(id)?.standard !== 1155) tokens.set(id, { id, standard: 721, owner });
  }
  return [...tokens.values()].toSorted((one, other) => Number(one.id - other.id));
}

it.each(seedsOf([1, 2, 3, 4, 5, 6], 2))(
  "a token has one standard, whichever events its contract emits and whenever they come, seed %i",
  async (seed) => {
    await dropTargetsAndFacts(db);
    const target = await createProjection(db, ownershipProjection);
    const random = randomFrom(seed);
    for (let step = 0; step < 30; step += 1) {
      for (let more = random.int(1, 3); more > 0; more -= 1) await happens(random);
      await tick(db, [target], random.int(1, 20));
      expect(await storedTokens()).toEqual(await expectedTokens());
      if (step % 10 === 9)
        expect(await differenceOfRebuild(db, ownershipProjection)).toMatchObject({ different: 0n });
    }
  },
);
