import { type RawBuilder, sql } from "kysely";
import { afterAll, expect, it } from "vitest";
import { tick } from "#projections/engine/tick.ts";
import { kindList } from "#projections/log/fact-kinds.ts";
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
import { ownedTokens } from "#test/support/market-data/owned-tokens.ts";
import { seedsOf } from "#test/support/thoroughness.ts";

const database = await createDatabase();
const { db } = database;

afterAll(() => database.drop());

const HEIGHTS = 12;
const branches = ["a", "b", "c"];
const dead = "0x000000000000000000000000000000000000dead";

/** The transfers of a block of a branch, equal at every call: of few tokens, single and in ranges. */
function eventsOf(height: number, branch: string): ChainEvent[] {
  const random = randomFrom(height * 31 + branch.charCodeAt(0));
  return Array.from({ length: random.int(1, 6) }, (_, logIndex): ChainEvent => {
    const isRange = random.chance(0.15);
    return {
      kind: isRange ? "erc721_consecutive_transfer" : "erc721_transfer",
      block: block(1, height, branch),
      logIndex,
      contract: addressOf(50),
      from: addressOf(random.int(1, 4)),
      to: random.chance(0.1) ? dead : addressOf(random.int(1, 4)),
      tokenId: BigInt(random.int(1, 6)),
      ...(isRange ? { amount: BigInt(random.int(0, 4)) } : {}),
    };
  });
}

/** A block is recorded, retracted or readopted. */
async function happens(random: Random): Promise<void> {
  const [height, branch] = [random.int(1, HEIGHTS), random.pick(branches)];
  await appendEvents(db, eventsOf(height, branch));
  if (random.chance(0.6)) {
    const state = random.chance(0.7) ? "block_retracted" : "block_readopted";
    await setBlocks(db, state, [block(1, random.int(1, HEIGHTS), random.pick(branches))]);
  }
}

const stored = async () =>
  (
    await sql`
      select token_id, owner, block_id, log_index from ${ownedTokens} t order by token_id`.execute(
      db,
    )
  ).rows;

/** Runs of ids whose last range is the same, as long as they can be; with the owners above, one form only. */
const expectedRuns = (table: string, ids: RawBuilder<unknown>) => sql<{ differing: number }>`
  with expected as (
    select min(token_id) as first_id, max(token_id) as last_id, owner, block_id, log_index
    from (select *, token_id - row_number() over (partition by block_id, log_index order by token_id) as run from (${ids}) one) i
    group by run, owner, block_id, log_index
  ), stored as (select first_id, last_id, owner, block_id, log_index from ${sql.table(`ownership.${table}`)})
  select count(*)::int as differing
  from ((table expected except table stored) union all (table stored except table expected)) d`;

const effective = sql`
  f.block_id not in (select block_id from log.retracted_blocks((select position from engine.checkpoint)))
  and f.position <= (select position from engine.checkpoint)`;
const lastRanges = sql`
  select distinct on (token_id) token_id, to_address as owner, block_id, log_index
  from (
    select f.block_id, f.log_index, f.to_address, f.token_id + step as token_id
    from log.fact f cross join lateral generate_series(0, f.amount - 1) step
    where f.kind in ${kindList("erc721_consecutive_transfer")} and ${effective}
  ) moved
  order by token_id, block_id desc, log_index desc`;

async function differingRuns(): Promise<number> {
  const unmoved = sql`
    select r.* from (${lastRanges}) r
    where not exists (select from ownership.token t where t.token_id = r.token_id and t.standard = 721)`;
  const found = [
    await expectedRuns("last_range", lastRanges).execute(db),
    await expectedRuns("token_range", unmoved).execute(db),
  ];
  return found.reduce((sum, { rows }) => sum + (rows[0]?.differing ?? 1), 0);
}

const counters = async () =>
  (
    await sql`
      select c.tokens, c.supply, c.units, c.erc721_tokens, c.holders,
             (select sum(h.tokens) from ownership.holder h) as held,
             (select count(*) from ownership.holder h) as addresses
      from ownership.collection c`.execute(db)
  ).rows;

/** The last effective transfer of each token, from all transfers. */
const expectedOwners = async () =>
  (
    await sql<{ owner: string }>`
      select distinct on (token_id) token_id, to_address as owner, block_id, log_index
      from (
        select f.block_id, f.log_index, f.to_address, f.token_id + step as token_id
        from log.fact f
        cross join lateral generate_series(0, case f.kind when 11 then f.amount else 1 end - 1) step
        where f.kind in ${kindList("erc721_transfer", "erc721_consecutive_transfer")}
          and f.block_id not in (select block_id from log.retracted_blocks((select position from engine.checkpoint)))
          and f.position <= (select position from engine.checkpoint)
      ) moved
      order by token_id, block_id desc, log_index desc`.execute(db)
  ).rows;

function expectedCounters(owners: readonly string[]) {
  const held = owners.filter((owner) => owner !== dead);
  const [tokens, supply] = [BigInt(owners.length), BigInt(held.length)];
  const addresses = BigInt(new Set(held).size);
  const holders = { holders: addresses, held: supply === 0n ? null : supply, addresses };
  return tokens === 0n
    ? []
    : [{ tokens, supply, units: supply, erc721_tokens: tokens, ...holders }];
}

it.each(seedsOf([1, 2, 3, 4, 5, 6], 2))(
  "an owner is the receiver of the last effective transfer, in any windows of any history, seed %i",
  async (seed) => {
    await dropTargetsAndFacts(db);
    const target = await createProjection(db, ownershipProjection);
    const random = randomFrom(seed);
    for (let step = 0; step < 40; step += 1) {
      for (let more = random.int(1, 3); more > 0; more -= 1) await happens(random);
      await tick(db, [target], random.int(1, 25));

      const owners = await expectedOwners();
      expect(await stored()).toEqual(owners);
      expect(await differingRuns()).toBe(0);
      expect(await counters()).toEqual(expectedCounters(owners.map(({ owner }) => owner)));
    }
    expect(await differenceOfRebuild(db, ownershipProjection)).toMatchObject({ different: 0n });
  },
);
