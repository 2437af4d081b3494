import { sql } from "kysely";
import { afterAll, expect, it } from "vitest";
import { dropTarget } from "../../../projections/engine/checkpoint.ts";
import { tick } from "../../../projections/engine/tick.ts";
import { kindList } from "../../../projections/log/fact-kind-sql.ts";
import { ownershipProjection } from "../../../projections/ownership/project.ts";
import { type Random, randomFrom } from "../../simulation/random.ts";
import {
  addressOf,
  appendEvents,
  block,
  type ChainEvent,
  createProjection,
  setBlocks,
} from "../../support/database/given.ts";
import { createDatabase } from "../../support/database/postgres.ts";

const database = await createDatabase();
const { db } = database;

afterAll(() => database.drop());

const HEIGHTS = 12;
const branches = ["a", "b", "c"];

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
      to: addressOf(random.int(1, 4)),
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
      select token_id, owner, block_id, log_index from ownership.token where standard = 721 order by token_id`.execute(
      db,
    )
  ).rows;

/** The last effective transfer of each token, from all transfers. */
const expectedOwners = async () =>
  (
    await sql`
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

it.each([1, 2, 3, 4])(
  "an owner is the receiver of the last effective transfer, in any windows of any history, seed %i",
  async (seed) => {
    await dropTarget(db, "ownership");
    await sql`truncate log.fact, log.block, log.transaction, log.contract`.execute(db);
    await sql`update log.head set position = 0`.execute(db);
    const target = await createProjection(db, ownershipProjection);
    const random = randomFrom(seed);
    for (let step = 0; step < 40; step += 1) {
      for (let more = random.int(1, 3); more > 0; more -= 1) await happens(random);
      await tick(db, [target], random.int(1, 25));

      expect(await stored()).toEqual(await expectedOwners());
    }
  },
);
