import { sql } from "kysely";
import { maxUint256 } from "viem";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import type { TokenMetadata } from "#projections/domain/metadata/token-metadata.ts";
import { deriveInBulk } from "#projections/engine/bulk.ts";
import { dropTarget } from "#projections/engine/checkpoint.ts";
import { verify } from "#projections/engine/verify.ts";
import type { Observation } from "#projections/log/append.ts";
import { factKind, kindList } from "#projections/log/fact-kinds.ts";
import {
  contractMetadataFetched,
  metadataConfirmed,
  tokenMetadataFetched,
} from "#projections/metadata/facts.ts";
import { metadataProjection } from "#projections/metadata/metadata.ts";
import { readDueAgain, readPendingTokens } from "#projections/metadata/read-due-metadata.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { type Random, randomFrom } from "#test/simulation/random.ts";
import {
  addressOf,
  type Block,
  block,
  dumpTable,
  project,
  setBlocks,
  zeroAddress,
} from "#test/support/database/given.ts";
import { transferred } from "#test/support/orders/order-facts.ts";
import { type Fact, openProjectedLog } from "#test/support/orders/projected-log.ts";
import { seedsOf } from "#test/support/thoroughness.ts";

const book = await openProjectedLog([ownershipProjection, metadataProjection]);
const { db } = book;
afterAll(() => book.drop());
beforeEach(() => book.clear());

const nft = addressOf(50);
const editions = addressOf(51);
const dead = "0x000000000000000000000000000000000000dead";
const [alice, bob] = [addressOf(1), addressOf(2)];
const start = Date.parse("2026-05-01T00:00:00Z");
const hour = 3_600_000;

const says = (name: string | null): TokenMetadata => ({
  name,
  description: null,
  image: null,
  animation: null,
  contentType: null,
  attributes: [{ trait_type: "Name", value: name ?? 0 }],
});

type About = {
  contract?: typeof nft;
  tokenId?: bigint;
  atHours?: number;
  after?: bigint;
  /** The block that it was read at. */
  read?: Block;
  shown?: bigint;
};

const basisOf = ({ number, hash, timestamp }: Block) => ({
  basis: { number: BigInt(number), hash, timestamp: new Date(timestamp * 1_000) },
});
const subject = ({ contract = nft, tokenId = 1n, atHours = 0, after, read, shown }: About) => ({
  chainId: 1,
  contract,
  tokenId,
  recordedAt: new Date(start + atHours * hour),
  ...(after === undefined ? {} : { after }),
  ...(read && basisOf(read)),
  ...(shown === undefined ? {} : { shown }),
});
/** The contract says that ids changed; without ids its own metadata. */
const changed = (
  { at, log }: { at: Block; log: number },
  { contract = nft, first, last = first }: { contract?: typeof nft; first?: bigint; last?: bigint },
): Fact => ({
  kind: "metadata_changed",
  block: at,
  logIndex: log,
  contract,
  ...(first === undefined ? {} : { tokenId: first, amount: (last ?? first) - first + 1n }),
  payload: { event: "MetadataUpdate" },
});
const ok = (name: string, about: About = {}): Observation =>
  tokenMetadataFetched(subject(about), "https://example.com/1", says(name));
const failed = (attempt: number, about: About = {}): Observation =>
  tokenMetadataFetched(subject(about), null, { error: "HTTP 404", attempt });
const confirmed = (about: About = {}): Observation => metadataConfirmed(subject(about));

function ofContract(name: string | null, options: About): Observation {
  const { tokenId: _, ...about } = subject(options);
  const unknown = { description: null, image: null, banner: null, website: null, twitter: null };
  return contractMetadataFetched(
    about,
    null,
    name === null ? { error: "none", attempt: 1 } : { ...unknown, name, discord: null },
  );
}

async function tokenRow() {
  const { rows } = await sql<Record<string, unknown>>`
    select status, name, attempt, updated_at as "updatedAt", due_at as "dueAt", attributes
    from metadata.token`.execute(db);
  const [row] = rows;
  return row && { ...row, updatedAt: hoursOf(row.updatedAt), dueAt: hoursOf(row.dueAt) };
}

const hoursOf = (time: unknown) => ((time as Date).getTime() - start) / hour;

async function pending(): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select token_id::text as id from metadata.pending_token
    union
    select generate_series(first_id, last_id)::text from metadata.pending_range order by 1`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

async function pendingRanges(): Promise<string[]> {
  const { rows } = await sql<{ ids: string }>`
    select first_id || '-' || last_id as ids from metadata.pending_range order by first_id`.execute(
    db,
  );
  return rows.map(({ ids }) => ids);
}

const month = 30 * 24;

describe("a token's metadata", () => {
  it("is what was fetched last", async () => {
    await book.happens(ok("old"), ok("new", { atHours: 2 }), ok("old", { atHours: 5, after: 2n }));
    expect(await tokenRow()).toEqual({
      status: "ok",
      name: "old",
      attempt: 0,
      updatedAt: 5,
      dueAt: 5 + month,
      attributes: [{ trait_type: "Name", value: "old" }],
    });
  });

  it("stays when a later fetch fails, and is retried soon", async () => {
    await book.happens(ok("kept"), failed(1, { atHours: 800 }));
    expect(await tokenRow()).toMatchObject({
      status: "ok",
      name: "kept",
      attempt: 1,
      updatedAt: 0,
    });
    expect((await tokenRow())?.dueAt).toBeCloseTo(800 + 1 / 60);

    await book.happens(failed(2, { atHours: 801 }));
    expect(await tokenRow()).toMatchObject({ name: "kept", attempt: 2, dueAt: 801.5 });
  });

  it("that cannot be fetched is retried ever more rarely", async () => {
    const dues: (number | undefined)[] = [];
    for (const attempt of [1, 2, 3, 4, 5, 6, 7]) {
      await book.happens(failed(attempt));
      dues.push((await tokenRow())?.dueAt);
    }
    expect(await tokenRow()).toMatchObject({ status: "failed", attempt: 7, attributes: [] });
    expect(dues).toEqual([expect.closeTo(1 / 60), 0.5, 6, 24, 7 * 24, month, month]);
  });

  it("that is unchanged is only rescheduled", async () => {
    await book.happens(
      ok("same"),
      failed(1, { atHours: 9 }),
      confirmed({ atHours: 10, after: 2n }),
    );
    expect(await tokenRow()).toMatchObject({ attempt: 0, updatedAt: 0, dueAt: 10 + month });
  });

  it("is one row however often the same fact is appended", async () => {
    await book.happens(ok("once"), ok("once"), failed(1), failed(1));
    const { rows } = await sql`select from log.fact`.execute(db);
    expect(rows).toHaveLength(2);
  });
});

describe("a change that a contract tells of", () => {
  const at = (number: number, branch = "main") => block(1, number, branch);
  const pendingIds = async () => {
    const { rows } = await sql<{ ids: string }>`
      select first_id || '-' || last_id as ids from metadata.change where is_pending order by 1`.execute(
      db,
    );
    return rows.map(({ ids }) => ids);
  };

  it("is pending until what was fetched was read at its block or later", async () => {
    await book.happens(ok("a", { read: at(5) }), changed({ at: at(5), log: 0 }, { first: 1n }));
    expect(await pendingIds()).toEqual([]);
    await book.happens(changed({ at: at(6), log: 0 }, { first: 1n }));
    await book.happens(changed({ at: at(6), log: 1 }, { first: 0n, last: maxUint256 }));
    expect(await pendingIds()).toEqual([`0-${maxUint256}`, "1-1"]);
    await book.happens(confirmed({ read: at(6), after: 1n, shown: 1n }));
    expect(await pendingIds()).toEqual([]);
  });

  it("is nothing to fetch where nothing was fetched, and none where it names no id", async () => {
    await book.happens(changed({ at: at(6), log: 0 }, { first: 0n, last: maxUint256 }));
    await book.happens(changed({ at: at(6), log: 1 }, { first: 9n, last: 3n }));
    expect(await pendingIds()).toEqual([]);
    expect(await dumpTable(db, "metadata.change")).toHaveLength(1);
  });

  it("of which a reorg takes the block back leaves no trace, and what was read there neither", async () => {
    await book.happens(ok("before", { read: at(3) }), ofContract("Before", { read: at(3) }));
    const tables = () => dump();
    const before = await tables();
    await book.happens(
      changed({ at: at(5), log: 0 }, { first: 1n }),
      changed({ at: at(5), log: 1 }, { first: 0n, last: 7n }),
      changed({ at: at(5), log: 2 }, {}),
      ok("after", { read: at(5), after: 1n, shown: 1n }),
      ofContract("After", { read: at(5), after: 2n, shown: 2n }),
    );
    expect(await tokenRow()).toMatchObject({ name: "after" });
    await book.retract(at(5));
    expect(await tables()).toEqual(before);
    expect(await tokenRow()).toMatchObject({ name: "before" });

    // The other branch has the event too, at the same height: its document is another one.
    await book.happens(changed({ at: at(5, "other"), log: 0 }, { first: 1n }));
    expect(await pendingIds()).toEqual(["1-1"]);
    await book.readopt(at(5));
    expect(await tokenRow()).toMatchObject({ name: "after" });
  });

  it("is not answered by a fetch that found what a retracted block said", async () => {
    await book.happens(
      ok("before", { read: at(3) }),
      ok("orphan", { read: at(5), after: 1n, shown: 1n }),
      changed({ at: at(5, "other"), log: 0 }, { first: 1n }),
    );
    await book.happens(confirmed({ read: at(6, "other"), after: 2n, shown: 2n }));
    await book.retract(at(5));
    expect(await tokenRow()).toMatchObject({ name: "before" });
    expect(await pendingIds()).toEqual(["1-1"]);
  });
});

describe("pending fetches", () => {
  it("are live tokens that were never fetched, and their contracts", async () => {
    const at = (log: number) => ({ at: block(1, 1), log });
    await book.happens(
      {
        ...transferred({ contract: nft, to: alice, tokenId: 3n }, at(0)),
        kind: "erc721_consecutive_transfer",
        amount: 3n,
      },
      transferred({ contract: nft, to: bob, tokenId: 9n }, { at: block(1, 2), log: 0 }),
      transferred({ contract: editions, to: alice, tokenId: 7n, units: 2n }, at(1)),
      transferred({ contract: editions, to: alice, tokenId: 8n, units: 2n }, at(2)),
    );
    expect(await pending()).toEqual(["3", "4", "5", "7", "8", "9"]);
    expect(await dumpTable(db, "metadata.pending_contract")).toHaveLength(2);

    await book.happens(
      ok("told", { tokenId: 4n }),
      failed(1, { contract: editions, tokenId: 8n }),
      transferred({ contract: nft, from: alice, to: zeroAddress, tokenId: 5n }, at(3)),
      // Its contract still knows a token at the dead address.
      transferred({ contract: nft, from: alice, to: dead, tokenId: 3n }, at(4)),
      ofContract("Apes", {}),
    );
    expect(await pending()).toEqual(["3", "7", "9"]);
    expect(await dumpTable(db, "metadata.pending_contract")).toHaveLength(1);

    await book.retract(block(1, 2));
    expect(await pending()).toEqual(["3", "7"]);
    await book.readopt(block(1, 2));
    await book.retract(block(1, 1));
    expect(await pending()).toEqual(["9"]);
    expect(await dumpTable(db, "metadata.pending_contract")).toEqual([]);
  });

  it("of a range are not those that their contract moved as editions", async () => {
    const range = {
      ...transferred({ contract: nft, to: alice, tokenId: 3n }, { at: block(1, 1), log: 0 }),
      kind: "erc721_consecutive_transfer" as const,
      amount: 3n,
    };
    await book.happens(range);
    await book.happens(
      transferred(
        { contract: nft, from: alice, to: bob, tokenId: 4n, units: 1n },
        { at: block(1, 2), log: 0 },
      ),
    );
    expect(await pendingRanges()).toEqual(["3-3", "5-5"]);
    await book.retract(block(1, 2));
    expect(await pendingRanges()).toEqual(["3-5"]);
  });

  it("are taken in turns, so that a large contract does not delay small ones", async () => {
    const mint = (contract: typeof nft, count: bigint, log: number): Fact => ({
      ...transferred({ contract, to: alice, tokenId: 0n }, { at: block(1, 1), log }),
      kind: "erc721_consecutive_transfer",
      amount: count,
    });
    const contracts = [addressOf(70), addressOf(71), addressOf(72)];
    await book.happens(
      ...contracts.map((contract, log) => mint(contract, log === 0 ? 5_000n : 2n, log)),
    );
    const choice = { chainId: 1, now: new Date(), pausedContractIds: [] };
    const turn = async (after: number, pausedContractIds: number[] = []) => {
      const rows = await readPendingTokens(
        db,
        { ...choice, pausedContractIds: pausedContractIds },
        { after, contracts: 2, limit: 4, tokensPerContract: 4 },
      );
      return rows.map(({ contractId, tokenId, standard }) => [contractId, tokenId, standard]);
    };
    const [first] = await turn(0);
    const id = Number(first?.[0]);
    expect(await turn(0)).toEqual([
      [id, 4_999n, 721],
      [id, 4_998n, 721],
      [id + 1, 1n, 721],
      [id + 1, 0n, 721],
    ]);
    expect((await turn(id + 1)).map(([contract]) => contract)).toEqual([id + 2, id + 2]);
    expect((await turn(0, [id, id + 1])).map(([contract]) => contract)).toEqual([id + 2, id + 2]);
    expect(await turn(id + 2)).toEqual([]);
    const other = await readPendingTokens(
      db,
      { ...choice, chainId: 33139 },
      { after: 0, contracts: 2, limit: 4, tokensPerContract: 4 },
    );
    expect(other).toEqual([]);
  });

  it("and what is due again are found through an index", async () => {
    await sql`
      insert into metadata.pending_token select 1, c, t from generate_series(1, 200) c, generate_series(1, 100) t
    `.execute(db);
    await sql`analyze metadata.pending_token`.execute(db);
    await book.happens(ok("x"));
    const plans = await sql<{ "QUERY PLAN": string }>`
      explain select token_id from metadata.pending_token where chain_id = 1 and contract_id = 5
      order by token_id desc limit 8`.execute(db);
    expect(plans.rows.map((row) => row["QUERY PLAN"]).join()).toMatch(/Index Only Scan Backward/);
    const choice = { chainId: 1, pausedContractIds: [] };
    const due = (at: number) =>
      readDueAgain(db, { ...choice, now: new Date(start + at * hour) }, 10);
    expect(await due(month - 1)).toEqual([]);
    expect(await due(month)).toMatchObject([
      {
        contract: nft,
        tokenId: 1n,
        attempt: 0,
        lastPosition: 1n,
        known: { status: "ok", name: "x" },
      },
    ]);
  });
});

const contracts = [nft, editions];

/** Ways to draw a fact: of a history all of them, or a few. */
function drawsOf(random: Random, step: number): (() => Fact)[] {
  const [contract, tokenId] = [random.pick(contracts), BigInt(random.int(1, 6))];
  const someBlock = () => block(1, random.int(1, 9), random.chance(0.2) ? "other" : "main");
  const about = {
    ...{ contract, tokenId, atHours: random.int(0, 2_000), after: BigInt(step) },
    ...(random.chance(0.7) && { read: someBlock() }),
    ...(random.chance(0.5) && { shown: BigInt(random.int(1, step)) }),
  };
  const place = { at: someBlock(), log: step };
  const [from, to] = [
    random.pick([alice, bob, zeroAddress]),
    random.pick([alice, bob, zeroAddress]),
  ];
  return [
    () => transferred({ contract: nft, from, to, tokenId }, place),
    () =>
      transferred(
        // A contract may tell of one token by both standards.
        { contract, from, to, tokenId, units: BigInt(random.int(1, 3)) },
        place,
      ),
    () => ({
      ...transferred({ contract: nft, from, to, tokenId }, place),
      kind: "erc721_consecutive_transfer",
      amount: BigInt(random.int(1, 4)),
    }),
    () => transferred({ contract: nft, from, to, tokenId: tokenId + 6n }, place),
    () => ok(random.pick(["a", "b"]), about),
    () => failed(random.int(1, 7), about),
    () => confirmed(about),
    () => ofContract(random.pick(["a", "b", null]), { ...about, contract: nft }),
    () => {
      const { tokenId: _, ...own } = subject(about);
      return metadataConfirmed(own);
    },
    () => changed(place, { contract }),
    () => changed(place, { contract, first: tokenId }),
    () => changed(place, { contract, first: 0n, last: maxUint256 }),
    () => changed(place, { contract, first: tokenId, last: tokenId + BigInt(random.int(-2, 3)) }),
  ];
}

type History = { seed: number; steps: number; draws?: number };

async function writeHistory({ seed, steps, draws }: History): Promise<void> {
  const random = randomFrom(seed);
  const kinds = random.shuffle([...drawsOf(random, 1).keys()]).slice(0, draws);
  const someBlock = () => block(1, random.int(1, 9), random.chance(0.2) ? "other" : "main");
  for (let step = 1; step <= steps; step += 1) {
    if (random.chance(0.15)) {
      const state = random.chance(0.6) ? "block_retracted" : "block_readopted";
      await setBlocks(db, state, [someBlock()]);
    } else {
      const draw = drawsOf(random, step)[random.pick(kinds)];
      await book.appendFacts([draw].flatMap((one) => one?.() ?? []));
    }
  }
}

const tables = [
  "token",
  "contract",
  "pending_token",
  "pending_range",
  "pending_ranged_contract",
  "pending_contract",
  "change",
];

async function dump(schema = "metadata"): Promise<string[][]> {
  return await Promise.all(tables.map((table) => dumpTable(db, `${schema}.${table}`)));
}

const isEffective = (fact: string) => sql`coalesce(${sql.ref(`${fact}.block_id`)}, -1) not in (
  select block_id from log.retracted_blocks(${sql.lit(1_000_000)}))`;

/** The changes that something fetched is older than, by brute force: contract, first and last id. */
async function outdatedByHand(): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    select distinct concat_ws('/', f.contract_id, coalesce(f.token_id, -1), coalesce(f.token_id + f.amount - 1, -1)) as key
    from log.fact f join log.block b using (block_id)
    where f.kind = ${factKind.metadata_changed} and ${isEffective("f")} and (
      exists (
        select from metadata.token t where t.contract_id = f.contract_id and t.token_id between f.token_id and f.token_id + f.amount - 1
          and t.read_at < b.number
      ) or f.token_id is null and exists (
        select from metadata.contract t where t.contract_id = f.contract_id and t.read_at < b.number))
    order by 1`.execute(db);
  return rows.map(({ key }) => key);
}

async function outdated(): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    select concat_ws('/', contract_id, first_id, last_id) as key from metadata.change where is_pending order by 1`.execute(
    db,
  );
  return rows.map(({ key }) => key);
}

type Told = { status: string; name: string | null };

/** The rows that the log tells of, by a fold in the order of positions. */
async function foldedByHand(): Promise<unknown[]> {
  const { rows } = await sql<{
    contract: number;
    token: bigint;
    position: bigint;
    payload: Told | null;
  }>`
    select f.contract_id as contract, f.token_id as token, f.position, f.payload
    from log.fact f left join log.fact said on said.position = f.amount and said.position < f.position
      and said.contract_id = f.contract_id and said.token_id is not distinct from f.token_id
    where f.kind in ${kindList("token_metadata_fetched", "metadata_confirmed")} and f.token_id is not null
      and ${isEffective("f")} and (f.payload is not null or said.position is null or ${isEffective("said")})
    order by f.position`.execute(db);
  const states = new Map<string, { told: bigint; last: bigint; payload: Told }>();
  for (const { contract, token, position, payload } of rows) {
    const key = `${contract}/${token}`;
    const before = states.get(key);
    const keeps =
      before !== undefined &&
      (payload === null || (before.payload.status === "ok" && payload.status !== "ok"));
    if (keeps) states.set(key, { ...before, last: position });
    else if (payload !== null) states.set(key, { told: position, last: position, payload });
  }
  return [...states]
    .map(([key, { told, last, payload }]) => [key, told, last, payload.status, payload.name])
    .sort();
}

const gone = Buffer.alloc(20);

/** Ids that their contract knows in one of the standards, without a fetch. */
async function neverFetched(): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select token_id::text as id from (
      select contract_id, token_id from ownership.token where not is_burned or owner <> ${gone}
      union
      select contract_id, generate_series(first_id, last_id) from ownership.token_range where owner <> ${gone}
    ) o
    where not exists (
      select from metadata.token t where t.contract_id = o.contract_id and t.token_id = o.token_id
    )
    group by token_id order by 1`.execute(db);
  return rows.map(({ id }) => id);
}

async function stored(): Promise<unknown[]> {
  const { rows } = await sql<Told & { key: string; position: bigint; last: bigint }>`
    select concat_ws('/', contract_id, token_id) as key, position, last_position as last, status, name
    from metadata.token`.execute(db);
  return rows
    .map(({ key, position, last, status, name }) => [key, position, last, status, name])
    .sort();
}

/** What a random history leaves: in windows of any size and in bulk the same, and what is computed by hand. */
async function comparedRows(history: History): Promise<string[][]> {
  await writeHistory(history);
  const found: string[][][] = [];
  for (const size of [1, 7, undefined]) {
    const targets = await book.emptyTargets();
    await project(db, targets, size);
    found.push(await dump());
  }
  const schema = "metadata_next";
  await deriveInBulk(db, { projection: metadataProjection, schema });
  found.push(await dump(schema));
  await dropTarget(db, schema);
  for (const one of found) expect(one, `history ${history.seed}`).toEqual(found[0]);
  expect(await pending()).toEqual(await neverFetched());
  expect(await stored()).toEqual(await foldedByHand());
  expect(await outdated()).toEqual(await outdatedByHand());
  return found[0] ?? [];
}

describe("equal logs give equal rows", () => {
  it.each(seedsOf([1, 2, 3, 4]))(
    "in windows of 1, of 7, at once and in bulk, history %i",
    async (seed) => {
      const rows = await comparedRows({ seed, steps: 120 });
      expect(rows.filter((some) => some.length > 0).length).toBeGreaterThan(2);
    },
  );

  // In a long one of all kinds every id is looked at again for another reason.
  it("in short histories of few kinds too", async () => {
    for (const seed of seedsOf(
      Array.from({ length: 120 }, (_, index) => 100 + index),
      12,
    )) {
      await book.clear();
      await comparedRows({ seed, steps: 10, draws: 3 });
    }
  });

  it("and a sample of them is verified separately", async () => {
    await writeHistory({ seed: 9, steps: 120 });
    await project(db, await book.emptyTargets());
    const { compared, different } = await verify(db, metadataProjection, {
      maxExamples: 5,
      sample: 4,
      onProgress: () => {},
    });
    expect(compared).toBeGreaterThan(0n);
    expect(different).toBe(0n);
  });
});
