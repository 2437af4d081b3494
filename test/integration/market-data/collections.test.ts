import fc from "fast-check";
import { sql } from "kysely";
import { type Address, type Hex, keccak256, stringToHex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { collectionsProjection } from "#projections/collections/collections.ts";
import { contractRoyaltyStated } from "#projections/collections/facts.ts";
import { readConfiguredRoyalties } from "#projections/collections/read-royalties.ts";
import { dropTarget, type Target } from "#projections/engine/checkpoint.ts";
import { appendObservations } from "#projections/log/append.ts";
import { schemaOf } from "#projections/log/versions.ts";
import {
  addressOf,
  appendEvents,
  type Block,
  block,
  createProjection,
  dumpTable,
  project,
  setBlocks,
  zeroAddress,
} from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { runsOf } from "#test/support/thoroughness.ts";

const tables = [
  "collection",
  "contract",
  "word",
  "first_transfer",
  "registry_collection",
  "registry_contract",
];

let database: TestDatabase;
let target: Target;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());
afterEach(() => startOver());

async function startOver() {
  await dropTarget(database.db, schemaOf("collections"));
  await dropTarget(database.db, "collections_shadow");
  await sql`truncate log.fact`.execute(database.db);
  await sql`update log.head set position = 0`.execute(database.db);
}

const contracts = [1, 2, 3, 4].map(addressOf);
const blocks = [1, 2, 3, 4, 5].flatMap((number) => [
  block(1, number, "main"),
  block(1, number, "fork"),
]);

const transferKinds = [
  "erc721_transfer",
  "erc721_consecutive_transfer",
  "erc1155_transfer",
] as const;

type Moved = { does: "move"; contract: number; kind: number; block: number };
type Described = { does: "describe"; contract: number; block: number };
type Registered = {
  does: "register";
  family: number[];
  slug: string;
  name: string;
  verified: boolean;
};
type Stated = { does: "state"; contract: number; block: number };
type Dropped = { does: "drop" | "readopt"; block: number };
type Step = Moved | Described | Registered | Stated | Dropped;

const place = (of: readonly unknown[]) => fc.nat({ max: of.length - 1 });
const moved = fc.record({
  does: fc.constant("move" as const),
  contract: place(contracts),
  kind: place(transferKinds),
  block: place(blocks),
});
const described = fc.record({
  does: fc.constant("describe" as const),
  contract: place(contracts),
  block: place(blocks),
});
const registered = fc.record({
  does: fc.constant("register" as const),
  family: fc.uniqueArray(place(contracts), { minLength: 1, maxLength: 3 }),
  slug: fc.constantFrom("apes", "bears"),
  name: fc.constantFrom("Apes", "Bears"),
  verified: fc.boolean(),
});
const stated = fc.record({
  does: fc.constant("state" as const),
  contract: place(contracts),
  block: place(blocks),
});
const dropped = fc.record({
  does: fc.constantFrom("drop" as const, "readopt" as const),
  block: place(blocks),
});
const story = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: moved },
    { weight: 2, arbitrary: described },
    { weight: 2, arbitrary: registered },
    { weight: 2, arbitrary: stated },
    { weight: 3, arbitrary: dropped },
  ),
  { minLength: 5, maxLength: 25 },
);

function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new Error(`nothing at ${index}`);
  return item;
}

async function happen(step: Step, index: number): Promise<void> {
  if (step.does === "move") {
    const { contract, kind, block } = step;
    const logIndex = contract * transferKinds.length + kind;
    await move(at(contracts, contract), at(blocks, block), at(transferKinds, kind), logIndex);
  } else if (step.does === "describe") {
    const told = at(["erc721", "erc1155", "neither"], (step.contract + step.block) % 3);
    const payload = { name: `Name at ${step.block}`, symbol: null, standard: told };
    await describeContract(at(contracts, step.contract), at(blocks, step.block), payload);
  } else if (step.does === "state") {
    await stateRoyalty(at(contracts, step.contract), at(blocks, step.block));
  } else if (step.does === "register") {
    const { slug, name, verified } = step;
    const family = step.family.map((one) => at(contracts, one));
    await register(family, { slug, name, verified }, index);
  } else {
    const state = step.does === "drop" ? "block_retracted" : "block_readopted";
    await setBlocks(database.db, state, [at(blocks, step.block)]);
  }
}

async function move(
  contract: Address,
  where: Block,
  kind: (typeof transferKinds)[number] = "erc721_transfer",
  logIndex = contracts.indexOf(contract),
) {
  const event = { kind, block: where, logIndex, contract, tokenId: 1n, amount: 2n };
  await appendEvents(database.db, [{ ...event, from: zeroAddress, to: addressOf(90) }]);
}

async function describeContract(contract: Address, where: Block, payload: object) {
  await appendObservations(database.db, [
    {
      kind: "contract_described",
      chainId: 1,
      contract,
      identity: identity("described", contract, where.hash, payload),
      recordedAt: new Date(where.timestamp * 1000),
      basis: {
        number: BigInt(where.number),
        hash: where.hash,
        timestamp: new Date(where.timestamp * 1000),
      },
      payload,
    },
  ]);
}

async function stateRoyalty(contract: Address, { number, hash, timestamp }: Block) {
  const basis = { number: BigInt(number), hash, timestamp: new Date(timestamp * 1000) };
  const royalty = { recipient: addressOf(91), bps: 500 };
  await appendObservations(database.db, [
    contractRoyaltyStated({ chainId: 1, contract, royalty, basis }),
  ]);
}

async function register(family: readonly Address[], entry: object, ordinal: number) {
  const primary = at(family, 0);
  await appendObservations(database.db, [
    {
      kind: "collection_registered",
      chainId: 1,
      contract: primary,
      identity: identity("registered", ordinal),
      recordedAt: new Date(1_800_000_000_000 + ordinal * 1000),
      payload: { ...entry, primary, contracts: family },
    },
  ]);
}

function identity(...parts: unknown[]): Hex {
  return keccak256(stringToHex(JSON.stringify(parts)));
}

async function dump(schema = "collections"): Promise<string[][]> {
  return await Promise.all(tables.map((table) => dumpTable(database.db, `${schema}.${table}`)));
}

async function tell(steps: readonly Step[], afterEachStep = async () => {}): Promise<void> {
  for (const [index, step] of steps.entries()) {
    await happen(step, index);
    await afterEachStep();
  }
}

type Shown = { name: string | null; slug: string; standard: number | null; symbol: string | null };

async function shown(): Promise<Record<Address, Shown & Record<string, unknown>>> {
  const { rows } = await sql<Shown & { address: Address }>`
    select k.address, c.name, c.symbol, c.slug, c.standard, c.verified, c.registered, c.created_at, c.updated_at
    from collections.collection c join log.contract k on k.contract_id = c.collection_id`.execute(
    database.db,
  );
  return Object.fromEntries(rows.map(({ address, ...rest }) => [address, rest]));
}

describe("collections", () => {
  it("are the same fact by fact, in windows of any size, and rebuilt at once", async () => {
    await fc.assert(
      fc.asyncProperty(story, fc.integer({ min: 1, max: 9 }), async (steps, windowFacts) => {
        await startOver();
        target = await createProjection(database.db, collectionsProjection);
        await tell(steps, () => project(database.db, [target]));
        const live = await dump();

        const shadow = await createProjection(
          database.db,
          collectionsProjection,
          "collections_shadow",
        );
        await project(database.db, [shadow], windowFacts);
        expect(await dump("collections_shadow")).toEqual(live);
        await dropTarget(database.db, "collections_shadow");

        const whole = await createProjection(
          database.db,
          collectionsProjection,
          "collections_shadow",
        );
        await project(database.db, [whole]);
        expect(await dump("collections_shadow")).toEqual(live);
      }),
      { numRuns: runsOf(15, 4) },
    );
  });

  it("stay as they are written when their contracts state a royalty, as each new one is asked to", async () => {
    target = await createProjection(database.db, collectionsProjection);
    const contract = at(contracts, 0);
    await move(contract, at(blocks, 0));
    await project(database.db, [target]);
    const written = async () => {
      const { rows } = await sql<{ at: string; hasRoyalty: boolean }>`
        select c.ctid::text as at, m.has_royalty as "hasRoyalty"
        from collections.collection c join collections.contract m using (collection_id)`.execute(
        database.db,
      );
      return rows;
    };
    const before = await written();
    await stateRoyalty(contract, at(blocks, 0));
    await project(database.db, [target]);
    expect(await written()).toEqual(before.map((row) => ({ ...row, hasRoyalty: true })));
  });

  it("are the same whatever order blocks arrive in", async () => {
    const shuffled = story.chain((steps) =>
      fc.tuple(
        fc.constant(steps),
        fc.shuffledSubarray(steps, { minLength: steps.length, maxLength: steps.length }),
      ),
    );
    await fc.assert(
      fc.asyncProperty(shuffled, async ([steps, order]) => {
        const arriving = (all: readonly Step[]) =>
          all.filter(({ does }) => does === "move" || does === "describe");
        const decided = steps.filter(({ does }) => does === "register");
        // Blocks keep the ids they were given first, so both tellings start from the same dictionary.
        await tell(arriving(steps));

        const states: string[][][] = [];
        for (const told of [
          [...arriving(steps), ...decided],
          [...decided, ...arriving(order)],
        ]) {
          await startOver();
          target = await createProjection(database.db, collectionsProjection);
          await tell(told, () => project(database.db, [target]));
          states.push(await dumpShown());
        }
        expect(states[1]).toEqual(states[0]);
      }),
      { numRuns: runsOf(10, 3) },
    );
  });
});

/** What is shown, without the times that a registration's ordinal in the story gives. */
async function dumpShown(): Promise<string[][]> {
  const { rows } = await sql<{ row: string }>`
    select (collection_id, slug, name, symbol, standard, verified, registered, first_block_id)::text as row
    from collections.collection order by 1`.execute(database.db);
  return [rows.map(({ row }) => row), await dumpTable(database.db, "collections.contract")];
}

describe("a collection", () => {
  const [ape, bear, cat] = [addressOf(1), addressOf(2), addressOf(3)];
  const first = block(1, 10);
  const second = block(1, 11);

  it("is removed when the block of its only transfer is retracted, and restored with it", async () => {
    target = await createProjection(database.db, collectionsProjection);
    await move(ape, first);
    await project(database.db, [target]);
    const found = await dump();
    expect((await shown())[ape]).toMatchObject({
      slug: ape,
      name: null,
      standard: 721,
      created_at: new Date(first.timestamp * 1000),
    });

    await setBlocks(database.db, "block_retracted", [first]);
    await project(database.db, [target]);
    expect(await shown()).toEqual({});

    await setBlocks(database.db, "block_readopted", [first]);
    await project(database.db, [target]);
    expect(await dump()).toEqual(found);
  });

  it("has its older description while the newer one's block is retracted", async () => {
    target = await createProjection(database.db, collectionsProjection);
    await move(ape, first);
    await describeContract(ape, second, { name: "Newer", symbol: "N", standard: "erc721" });
    await describeContract(ape, first, { name: "Older", symbol: "O", standard: "erc721" });
    const nameAfter = async (state: "block_retracted" | "block_readopted", blocks: Block[]) => {
      await setBlocks(database.db, state, blocks);
      await project(database.db, [target]);
      const { rows } = await sql`select from collections.contract where is_described`.execute(
        database.db,
      );
      return [(await shown())[ape]?.name, rows.length];
    };

    expect(await nameAfter("block_readopted", [])).toEqual(["Newer", 1]);
    expect(await nameAfter("block_retracted", [second])).toEqual(["Older", 1]);
    expect(await nameAfter("block_readopted", [second])).toEqual(["Newer", 1]);
  });

  it("groups its contracts under the primary one; a contract that is removed is a collection of its own again", async () => {
    target = await createProjection(database.db, collectionsProjection);
    await move(bear, first);
    await register([ape, bear], { slug: "apes", name: "Apes", verified: true }, 1);
    await move(ape, second);
    await project(database.db, [target]);
    expect(await shown()).toEqual({
      [ape]: expect.objectContaining({
        slug: "apes",
        name: "Apes",
        verified: true,
        created_at: new Date(first.timestamp * 1000),
      }),
    });

    await register([ape], { slug: "apes", name: "Apes", verified: true }, 2);
    await project(database.db, [target]);
    expect(await shown()).toMatchObject({ [ape]: { slug: "apes" }, [bear]: { slug: bear } });
  });

  it("keeps its slug against a later claim, and has its address as slug while another has it", async () => {
    target = await createProjection(database.db, collectionsProjection);
    await register([ape], { slug: "apes", name: "Apes", verified: true }, 1);
    await register([bear], { slug: "apes", name: "Fakes", verified: false }, 2);
    await register([ape], { slug: "apes", name: "Real Apes", verified: true }, 3);
    await register([cat], { slug: bear, name: "Address taker", verified: false }, 4);
    await project(database.db, [target]);
    expect(await shown()).toMatchObject({
      [ape]: { slug: "apes", name: "Real Apes" },
      [bear]: { slug: bear, name: "Fakes" },
      [cat]: { slug: cat },
    });

    await register([ape], { slug: "real-apes", name: "Real Apes", verified: true }, 5);
    await project(database.db, [target]);
    expect(await shown()).toMatchObject({ [ape]: { slug: "real-apes" }, [bear]: { slug: "apes" } });
  });

  it("has the contracts that the latest entry names", async () => {
    target = await createProjection(database.db, collectionsProjection);
    for (const contract of [ape, bear, cat]) await move(contract, first);
    await register([bear, cat], { slug: "bears", name: "Bears", verified: true }, 1);
    await register([ape, cat], { slug: "apes", name: "Apes", verified: true }, 2);
    await project(database.db, [target]);
    expect(await families()).toEqual({ [ape]: ape, [bear]: bear, [cat]: ape });

    await register([bear, ape], { slug: "bears", name: "Bears", verified: true }, 3);
    await project(database.db, [target]);
    expect(await families()).toEqual({ [ape]: bear, [bear]: bear, [cat]: cat });
  });

  it("has the creator fee of its latest entry, and none if that is malformed", async () => {
    target = await createProjection(database.db, collectionsProjection);
    const royalty = { recipient: bear, bps: 250 };
    const wordings = [
      royalty,
      { ...royalty, bps: "lots" },
      { ...royalty, bps: 10_001 },
      { ...royalty, recipient: "0x1" },
      250,
      undefined,
    ];
    for (const [ordinal, worded] of wordings.entries()) {
      const entry = { slug: "apes", name: "Apes", verified: true, royalty: worded };
      await register([ape, cat], entry, ordinal);
      await project(database.db, [target]);
      const read = await readConfiguredRoyalties(database.db, 1, [ape, bear, cat]);
      const expected: typeof read =
        worded === royalty
          ? new Map([
              [ape, royalty],
              [cat, royalty],
            ])
          : new Map();
      expect(read).toEqual(expected);
    }
  });

  async function families(): Promise<Record<Address, Address>> {
    const { rows } = await sql<{ address: Address; family: Address }>`
      select k.address, c.address as family
      from collections.contract m
      join log.contract k on k.contract_id = m.contract_id
      join log.contract c on c.contract_id = m.collection_id`.execute(database.db);
    return Object.fromEntries(rows.map(({ address, family }) => [address, family]));
  }
});
