import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { sql } from "kysely";
import { pino } from "pino";
import { type Address, type Hex, keccak256, stringToHex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Anvil, startAnvil } from "#devnet/anvil.ts";
import { connect } from "#devnet/client.ts";
import { registerCuratedCollections } from "#jobs/collections/register-curated.ts";
import { readConfig } from "#ops/config/read-config.ts";
import { runRole } from "#ops/processes/roles/jobs.ts";
import { type RoleContext, type RunningRole, roleDatabase } from "#ops/processes/roles/role.ts";
import { allProjections } from "#projections/all.ts";
import { collectionsProjection } from "#projections/collections/collections.ts";
import type { CuratedCollection } from "#projections/collections/facts.ts";
import { dropTarget, type Target, targetOf } from "#projections/engine/checkpoint.ts";
import { prepareProjections } from "#projections/engine/rebuild.ts";
import { appendObservations } from "#projections/log/append.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import { type FactKind, kindLiteral } from "#projections/log/fact-kinds.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { readClock } from "#projections/orders/clock.ts";
import {
  addressOf,
  appendEvents,
  block,
  type ChainEvent,
  createProjection,
  dropTargets,
  project,
  zeroAddress,
} from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { givenListing } from "#test/support/orders/order-facts.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());
afterEach(async () => {
  await dropTarget(database.db, schemaOf("collections"));
  await sql`truncate log.fact`.execute(database.db);
  await sql`update log.head set position = 0`.execute(database.db);
});

const apes: CuratedCollection = {
  chainId: 1,
  slug: "apes",
  name: "Apes",
  verified: true,
  primary: addressOf(1),
  contracts: [addressOf(1), addressOf(2)],
};
const bears: CuratedCollection = {
  ...apes,
  slug: "bears",
  name: "Bears",
  primary: addressOf(3),
  contracts: [addressOf(3)],
};
const at = new Date(1_700_000_000_000);

describe("registering the curated collections", () => {
  const register = (...entries: CuratedCollection[]) =>
    registerCuratedCollections(database.db, entries, at);

  it("appends an entry once, however often the file is read and in any order of contracts", async () => {
    expect(await register(apes, bears)).toBe(2);
    expect(await register(bears, { ...apes, contracts: apes.contracts.toReversed() })).toBe(0);
  });

  it("follows the file when an entry changes and changes back", async () => {
    const target = await createProjection(database.db, collectionsProjection);
    for (const name of ["Apes", "Old Apes", "Apes"]) {
      expect(await register({ ...apes, name })).toBe(1);
      expect(await register({ ...apes, name })).toBe(0);
      await project(database.db, [target]);
      expect(await readNames()).toEqual([name]);
    }
  });

  it("leaves what an operator registered later until the file changes", async () => {
    const target = await createProjection(database.db, collectionsProjection);
    await register(apes);
    await appendObservations(database.db, [
      {
        kind: "collection_registered",
        chainId: 1,
        contract: apes.primary,
        identity: keccak256(stringToHex("by hand")),
        recordedAt: at,
        payload: { ...apes, name: "Operator's Apes" },
      },
    ]);
    expect(await register(apes)).toBe(0);
    await project(database.db, [target]);
    expect(await readNames()).toEqual(["Operator's Apes"]);

    expect(await register({ ...apes, name: "Newest Apes" })).toBe(1);
    await project(database.db, [target]);
    expect(await readNames()).toEqual(["Newest Apes"]);
  });

  it("appends each entry once when several processes start at the same time", async () => {
    await Promise.all(Array.from({ length: 5 }, () => register(apes, bears)));
    expect(await readLogHead(database.db)).toBe(2n);
  });
});

async function readNames(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from collections.collection order by collection_id`.execute(database.db);
  return rows.map(({ name }) => name);
}

describe("the jobs role", () => {
  let anvil: Anvil;
  let target: Target;
  let running: RunningRole[] = [];
  beforeAll(async () => {
    anvil = await startAnvil({ chainId: 1 });
  });
  afterAll(() => anvil.stop());
  afterEach(async () => {
    await Promise.all(running.map((role) => role.stop()));
    running = [];
  });

  /** Answers every call by the number one, so it has no name and claims every interface. */
  const someCode: Hex = "0x600160005260206000f3";

  it("describes registered contracts in one process, while the other stands by and takes over", async () => {
    target = await createProjection(database.db, collectionsProjection);
    await install(apes.contracts);
    const [first, second] = [await start([apes, bears]), await start([apes, bears])];
    const leader = await Promise.race([
      first.ready.then(() => first),
      second.ready.then(() => second),
    ]);
    await expect.poll(describedAfterFold, { timeout: 120_000 }).toEqual(apes.contracts);

    await install(bears.contracts);
    await leader.stop();
    const other = leader === first ? second : first;
    await other.ready;
    await expect
      .poll(describedAfterFold, { timeout: 120_000 })
      .toEqual([...apes.contracts, ...bears.contracts]);
    const { rows } = await sql`
      select contract_id from log.fact where kind = ${kindLiteral("contract_described")} group by 1 having count(*) > 1`.execute(
      database.db,
    );
    expect(rows).toEqual([]);
  });

  it("waits for the first derivation without an error, then appends clock ticks", async () => {
    const lines: string[] = [];
    const role = await start([apes], anvil.rpcUrl, lines);
    await role.ready;
    await appendObservations(database.db, [
      givenListing({ maker: addressOf(1), contract: addressOf(1), tokenId: 1n, endTime: 1n })
        .submitted,
    ]);
    const before = await readClock(database.db);

    await prepareProjections(database.db, allProjections({ feeRecipient: addressOf(9) }), () => {});

    await expect.poll(() => readClock(database.db), { timeout: 120_000 }).toBeGreaterThan(0n);
    expect(before).toBe(0n);
    expect(lines.filter((line) => line.includes('"level":50'))).toEqual([]);
    await Promise.all(running.map((one) => one.stop()));
    await dropTargets(database.db);
  });

  it.each(allProjections({ feeRecipient: addressOf(9) }).map(({ name }) => name))(
    "does every job's work when %s is derived last, without an error",
    async (last) => {
      const projections = allProjections({ feeRecipient: addressOf(9) });
      await install(apes.contracts);
      await appendObservations(database.db, [
        givenListing({ maker: addressOf(3), contract: addressOf(1), tokenId: 3n, endTime: 3n })
          .submitted,
      ]);
      await appendEvents(database.db, [mintOf(apes.primary, 3n)]);
      await registerCuratedCollections(database.db, [apes], at);
      await prepareProjections(database.db, projections, () => {});
      await dropTarget(database.db, schemaOf(last));
      const lines: string[] = [];
      const role = await start([apes], anvil.rpcUrl, lines);
      await role.ready;
      if (last !== "listings" && last !== "bids") await recorded(role, ["clock_ticked"]);

      await prepareProjections(database.db, projections, () => {});

      const targets = projections.map(targetOf);
      await recorded(
        role,
        ["clock_ticked", "contract_described", "token_metadata_fetched"],
        targets,
      );
      expect(lines.filter((line) => line.includes('"level":50'))).toEqual([]);
      await role.stop();
      await dropTargets(database.db);
    },
  );

  it("waits during an upgrade until the tables of the version before are replaced", async () => {
    const projections = allProjections({ feeRecipient: addressOf(9) });
    await prepareProjections(database.db, projections, () => {});
    await sql`update engine.checkpoint set version = version - 1`.execute(database.db);
    await sql`alter table floors.snapshot rename column taken_at to taken`.execute(database.db);
    const before = await readClock(database.db);
    const lines: string[] = [];
    const role = await start([apes], anvil.rpcUrl, lines);
    await role.ready;
    await appendObservations(database.db, [
      givenListing({ maker: addressOf(2), contract: addressOf(1), tokenId: 2n, endTime: 2n })
        .submitted,
    ]);

    await prepareProjections(database.db, projections, () => {});

    await expect.poll(() => readClock(database.db), { timeout: 120_000 }).toBeGreaterThan(before);
    expect(lines.filter((line) => line.includes('"level":50'))).toEqual([]);
    await Promise.all(running.map((one) => one.stop()));
    await dropTargets(database.db);
  });

  it("stops at once while a chain does not respond", async () => {
    target = await createProjection(database.db, collectionsProjection);
    let ask = () => {};
    const asked = new Promise<void>((resolve) => {
      ask = resolve;
    });
    const mute = createServer(() => ask());
    await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
    const { port } = mute.address() as AddressInfo;
    const role = await start([apes], `http://127.0.0.1:${port}`);
    await role.ready;
    await project(database.db, [target]);
    await asked;

    const begun = performance.now();
    await role.stop();
    expect(performance.now() - begun).toBeLessThan(3_000);
    mute.closeAllConnections();
    mute.close();
  });

  it("goes on when the connection that renews its lease is lost", async () => {
    const role = await start([]);
    await role.ready;
    const readHolders = async () => {
      const { rows } = await sql<{ pid: number }>`
        select pid from pg_stat_activity
        where datname = current_database() and application_name = 'leader jobs'`.execute(
        database.db,
      );
      return rows.map(({ pid }) => pid);
    };
    const [before] = await readHolders();
    await sql`select pg_terminate_backend(${before}::integer)`.execute(database.db);
    const readNext = async () => (await readHolders()).find((pid) => pid !== before);
    await expect.poll(readNext, { timeout: 60_000 }).toEqual(expect.any(Number));
    await role.stop();
  });

  async function start(
    collections: CuratedCollection[],
    rpcUrl = anvil.rpcUrl,
    lines: string[] = [],
  ): Promise<RunningRole> {
    const config = readConfig({
      DATABASE_URL: database.url,
      RPC_URL_1: rpcUrl,
      PRICE_FEED_URLS: "none",
      FEE_RECIPIENT: addressOf(9),
    });
    const context: RoleContext = {
      config: {
        ...config,
        database: roleDatabase(
          { replicas: [], maxReplicaLagSeconds: 5, poolerUrl: null },
          database.url,
        ),
        fees: { bps: 100, recipient: addressOf(9) },
        curated: { file: "none", collections },
      },
      logger: pino({ level: "info" }, { write: (line: string) => void lines.push(line) }),
      signal: new AbortController().signal,
    };
    const role = await runRole(context);
    running.push(role);
    return role;
  }

  /** Resolves once the log has facts of these kinds, with projections kept at its head; rejects when the role fails first. */
  async function recorded(
    role: RunningRole,
    kinds: readonly FactKind[],
    targets: readonly Target[] = [],
  ): Promise<void> {
    const count = async () => {
      if (targets.length > 0) await project(database.db, targets);
      const { rows } = await sql<{ count: number }>`
        select count(distinct kind)::int as count from log.fact
        where kind in (${sql.join(kinds.map(kindLiteral))})`.execute(database.db);
      return rows[0]?.count;
    };
    await Promise.race([role.failed, expect.poll(count, { timeout: 60_000 }).toBe(kinds.length)]);
  }

  function mintOf(contract: Address, tokenId: bigint): ChainEvent {
    return {
      kind: "erc721_transfer",
      block: block(1, 1),
      logIndex: 0,
      contract,
      tokenId,
      from: zeroAddress,
      to: addressOf(3),
    };
  }

  async function describedAfterFold(): Promise<Address[]> {
    await project(database.db, [target]);
    const { rows } = await sql<{ address: Address }>`
      select distinct k.address
      from collections.description d join log.contract k on k.contract_id = d.contract_id
      order by 1`.execute(database.db);
    return rows.map(({ address }) => address);
  }

  async function install(addresses: readonly Address[]): Promise<void> {
    for (const address of addresses) await connect(anvil).setCode({ address, bytecode: someCode });
  }
});
