import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import pg from "pg";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type MoveStep, moveChain } from "../../../api/run/cells/move-chain.ts";
import { applyRights } from "../../../api/run/database-roles/apply-rights.ts";
import { createEmbeddedRoles } from "../../../api/run/database-roles/embedded-roles.ts";
import { type Database, openDatabase } from "../../../projections/database.ts";
import { moveLogEnd } from "../../../projections/log/cells/arrival.ts";
import {
  closeChain,
  finishDeparture,
  reopenChain,
} from "../../../projections/log/cells/departure.ts";
import { readHeldChains } from "../../../projections/log/cells/read-held-chains.ts";
import { readLogHead } from "../../../projections/log/read-log-head.ts";
import { withLock } from "../../../projections/named-lock.ts";
import { block } from "../../support/database/given.ts";
import { appendTrades, projections } from "../../support/database/operator.ts";
import { until } from "../../support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "../../support/database/postgres.ts";
import { createPonderTables, endOf } from "../log/ponder-tables.ts";

const chainId = 1;
let shared: TestDatabase;
let own: TestDatabase;

beforeEach(async () => {
  [shared, own] = await Promise.all([createDatabase(), createDatabase()]);
  await appendTrades(shared.db, 1, 3);
  await addIndexer(shared.db, "core", { source: "seaport", isRemoved: false });
});
afterEach(async () => {
  await Promise.all([own?.drop(), shared?.drop()]);
});

async function addIndexer(
  db: Database,
  name: string,
  { source, isRemoved }: { source: string; isRemoved: boolean },
): Promise<void> {
  await sql`
    insert into ops.indexer (chain_id, name, ponder_schema, started_at)
    values (${chainId}, ${name}, ${`ponder_1_${name}`}, now())`.execute(db);
  await sql`
    insert into ops.source (chain_id, source, indexer, event_sources, added_by, removed_at, removed_by)
    values (${chainId}, ${source}, ${name}, '{}', 'operator',
            case when ${isRemoved} then now() end, case when ${isRemoved} then 'operator' end)`.execute(
    db,
  );
}

const move = (options: { awaitsIndexer?: boolean; onStep?: (step: MoveStep) => void } = {}) =>
  moveChain({
    ...{ chainId, from: shared.db, to: own.db, projections },
    ...{ awaitsIndexer: false, onStep: () => {}, ...options },
  });

it("the chain's indexers in the new database never see it without what they are to index", async () => {
  const blocking = new pg.Client(own.url);
  await blocking.connect();
  // What is copied after the arrival waits.
  await blocking.query("begin; lock table ops.partner_listing in access exclusive mode");
  const moving = move();
  await until("the arrival", async () => {
    const { rows } = await sql`select from ops.arriving_chain`.execute(own.db);
    return rows.length > 0;
  });
  const { rows } = await sql`
    select s.source, i.ponder_schema as schema from ops.source s join ops.indexer i on i.name = s.indexer`.execute(
    own.db,
  );
  await blocking.end();
  await moving;
  expect(rows).toEqual([{ source: "seaport", schema: "ponder_1_core" }]);
});

it("waits until the indexers that run have indexed what they have in the other database, and for no other", async () => {
  await addIndexer(shared.db, "blur", { source: "blur", isRemoved: true });
  const indexed = async (db: Database, name: string, number: number) => {
    await createPonderTables(db, `ponder_1_${name}`, chainId, name);
    await sql`
      update ${sql.table(`ponder_1_${name}._ponder_checkpoint`)}
      set latest_checkpoint = ${endOf(block(chainId, number))}`.execute(db);
  };
  for (const name of ["core", "blur"]) await indexed(shared.db, name, 3);
  const waits: bigint[] = [];
  let indexing = Promise.resolve();
  await move({
    awaitsIndexer: true,
    onStep({ task, done, total }) {
      if (task !== "waiting for the indexer") return;
      waits.push(total - done);
      if (waits.length === 1) indexing = indexed(own.db, "core", 3);
    },
  });
  await indexing;
  expect(new Set(waits)).toEqual(new Set([1n]));
  expect(await readHeldChains(shared.db, [chainId])).toEqual(new Set());
});

it("processes with database users of their own may read the new tables before anything is switched", async () => {
  const folder = await mkdtemp(join(tmpdir(), "move-roles-"));
  const prefix = `move_${process.pid}`;
  const roles = {
    ...{ owner: `${prefix}_owner`, indexer: `${prefix}_indexer`, projector: `${prefix}_projector` },
    ...{ jobs: `${prefix}_jobs`, api: `${prefix}_api`, console: `${prefix}_console` },
  };
  const urls = await createEmbeddedRoles(own.url, folder, roles);
  await applyRights(own.db, roles);
  const api = openDatabase({ url: urls.api, applicationName: "test", onIdleError: () => {} });
  const reads: Promise<unknown>[] = [];
  try {
    await move({
      onStep({ task }) {
        if (task === "switching") reads.push(sql`select from sales.sale`.execute(api));
      },
    });
    await expect(Promise.all(reads)).resolves.toHaveLength(1);
  } finally {
    await api.destroy();
    await rm(folder, { recursive: true, force: true });
    await own.drop();
    for (const role of Object.values(roles))
      await sql`drop role ${sql.id(role)}`.execute(shared.db);
    own = await createDatabase();
  }
});

it("two commands do not move a chain at a time", async () => {
  await withLock(shared.db, `move of chain ${chainId}`, async () => {
    await expect(move()).rejects.toThrow("another process moves chain 1 now");
  });
  await expect(move()).resolves.toMatchObject({ position: await readLogHead(shared.db) });
});

it("a command that slept while another one went on changes nothing", async () => {
  await expect(
    move({
      onStep({ task }) {
        if (task === "switching") throw new Error("asleep");
      },
    }),
  ).rejects.toThrow("asleep");
  const slept = await closeChain(shared.db, chainId, 60);
  await reopenChain(shared.db, chainId);
  await appendTrades(shared.db, 4, 4);
  const next = await closeChain(shared.db, chainId, 60);
  expect(next.position).toBeGreaterThan(slept.position);
  expect(await finishDeparture(shared.db, chainId, slept)).toBe(false);
  expect(await readHeldChains(shared.db, [chainId])).toEqual(new Set([chainId]));

  const { position } = await move();
  const end = await readLogHead(own.db);
  await expect(moveLogEnd(own.db, [position], position)).rejects.toThrow("another process");
  expect(await readLogHead(own.db)).toBe(end);
});
