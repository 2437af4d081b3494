import { sql } from "kysely";
import type { Address } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allProjections } from "#projections/all.ts";
import { deriveInBulk } from "#projections/engine/bulk.ts";
import { appendObservations, type Observation } from "#projections/log/append.ts";
import type { Database } from "#projections/log/database.ts";
import { anyTrade } from "#projections/sales/read-sale-filter.ts";
import { readSales } from "#projections/sales/read-sales.ts";
import {
  type TokenKey,
  type TokenSort,
  type TokensFilter,
  tokenSorts,
} from "#projections/tokens/read-token-filter.ts";
import { pageCtes } from "#projections/tokens/read-tokens.ts";
import { readTraitKeys } from "#projections/traits/read-tokens-with-traits.ts";
import { type Random, randomFrom } from "../simulation/random.ts";
import {
  addressOf,
  appendEvents,
  block,
  type ChainEvent,
  dumpTable,
} from "../support/database/given.ts";
import { ownedTokens } from "../support/market-data/owned-tokens.ts";
import { type Attribute, dead, described, nfts } from "../support/market-data/token-market.ts";
import {
  feeRecipient,
  filled,
  givenListing,
  receivedAt,
  transferred,
} from "../support/orders/order-facts.ts";
import { openProjectedLog } from "../support/orders/projected-log.ts";

const projections = allProjections({ feeRecipient });
let log: Awaited<ReturnType<typeof openProjectedLog>>;
beforeAll(async () => {
  log = await openProjectedLog(projections);
});
afterAll(() => log.drop());

/** Of two chunks, at their borders, and as large as hashes. */
const ids = [0n, 1n, 7n, 15n, 16n, 700n, 1022n, 1023n, 1024n, 2047n, 2n ** 200n, 2n ** 256n - 1n];
const contracts = [nfts.punks, nfts.kin, nfts.kinSecond, nfts.editions];
const heights = Array.from({ length: 12 }, (_, index) => 10 + index);

const traitsOf = (random: Random): Attribute[] => [
  ...(random.chance(0.95) ? [{ trait_type: "Kind", value: "Ape" }] : []),
  {
    trait_type: random.pick(["Fur", "FUR", "fu r"]),
    value: random.pick(["Gold", "Gold", "Tan", 3]),
  },
  { trait_type: "Eyes", value: random.pick(["Laser", "Sad", "Sad", true]) },
];

/** Tokens minted, sold, burned, with metadata fetched again or missing, in blocks that are retracted and readopted. */
function openHistory(random: Random) {
  const dropped = new Set<number>();
  let log = 0;
  const place = () => {
    log += 1;
    return { at: block(1, random.pick(heights.filter((one) => !dropped.has(one)))), log };
  };
  const token = () => ({ contract: random.pick(contracts), tokenId: random.pick(ids) });
  function given(contract: (typeof contracts)[number], tokenId: bigint, to: Address): ChainEvent {
    const units = contract.standard === "erc1155" ? { units: 5n } : {};
    return transferred({ contract: contract.address, tokenId, to, ...units }, place());
  }
  function sold(): ChainEvent {
    const { contract, tokenId } = random.chance(0.3)
      ? { contract: nfts.editions, tokenId: 7n }
      : token();
    const { address, standard } = contract;
    const order = givenListing({
      ...{ maker: addressOf(300), contract: address, standard, tokenId },
      salt: BigInt(log),
    } as Parameters<typeof givenListing>[0]);
    return filled(order, 1n, place());
  }
  function metadataFetched(): Observation {
    const { contract, tokenId } = token();
    return described(contract.address, tokenId, random.chance(0.1) ? null : traitsOf(random));
  }
  return {
    opening: () => ({
      events: contracts.flatMap((contract) => ids.map((id) => given(contract, id, addressOf(301)))),
      observations: contracts.flatMap(({ address }) =>
        ids.map((id) => described(address, id, traitsOf(random))),
      ),
    }),
    step(): {
      events: ChainEvent[];
      observations: Observation[];
      height: number;
      isDropped: boolean;
    } {
      const height = random.pick(heights);
      const isDropped = dropped.has(height);
      if (isDropped) dropped.delete(height);
      else if (dropped.size < 3) dropped.add(height);
      const burned = token();
      return {
        events: [
          ...Array.from({ length: random.int(0, 12) }, sold),
          given(burned.contract, burned.tokenId, dead),
        ],
        observations: Array.from({ length: random.int(0, 5) }, metadataFetched),
        height,
        isDropped,
      };
    },
    isOut: (height: number) => dropped.has(height),
  };
}

type Place = { contract: number; token: string };
type Sold = Place & { key: string };
const nameOf = ({ contract, token }: Place) => `${contract}/${token}`;

/** What tokens have by their documents, read one by one: `type=value`, types in one spelling. */
async function readDescribed(db: Database): Promise<Map<string, Set<string>>> {
  const { rows } = await sql<Place & { attributes: Attribute[] }>`
    select contract_id as contract, token_id::text as token, attributes from metadata.token m
    where status = 'ok' and exists (
      select from ${ownedTokens} o where o.contract_id = m.contract_id and o.token_id = m.token_id
    )`.execute(db);
  const spelled = (type: string) => type.toLowerCase().replaceAll(/\s+/g, "");
  return new Map(
    rows.map((row) => [
      nameOf(row),
      new Set(row.attributes.map((one) => `${spelled(one.trait_type)}=${one.value}`)),
    ]),
  );
}

async function expectSales(contractIds: number[], traits: [string, string][], has: Has) {
  const { db } = log;
  const { rows: sales } = await sql<Sold>`
    select contract_id as contract, token_id::text as token,
           concat_ws('/', block_id, transaction_index, ordinal) as key
    from sales.sale order by block_id desc, transaction_index desc, ordinal desc`.execute(db);
  const expected = sales.filter((sale) => contractIds.includes(sale.contract) && has(sale));
  const traitKeys = await readTraitKeys(db, contractIds, traits);
  const trade = anyTrade;
  const filter = { chainId: 1, contractIds, tokenId: null, traits, traitKeys, trade };
  for (const [limit, offset] of [
    [1, 0],
    [3, 2],
    [60, 0],
  ] as const) {
    const { total, rows } = await readSales(db, filter, { limit, offset, after: null });
    expect(Number(total)).toBe(expected.length);
    expect(
      rows.map((row) => `${row.blockId}/${row.transactionIndex}/${row.ordinal}`),
      `${limit} of ${traits.join()}`,
    ).toEqual(expected.slice(offset, offset + limit).map(({ key }) => key));
  }
  return expected.length;
}

type Has = (place: Place) => boolean;

async function expectTokens(contractIds: number[], traits: [string, string][], has: Has) {
  const { db } = log;
  const { rows: tokens } = await sql<Place & { standard: number }>`
    select contract_id as contract, token_id::text as token, standard from ${ownedTokens} o
    where contract_id = any (${contractIds}::int[])
    order by token_id, contract_id, standard`.execute(db);
  const expected = tokens.filter(has);
  const traitKeys = await readTraitKeys(db, contractIds, traits);
  const named = { collectionId: contractIds[0] ?? 0, contractIds, tokenIds: null, owner: null };
  for (const listed of [null, false, true]) {
    for (const sort of tokenSorts) {
      const filter = { ...named, listed, traitKeys };
      // Nothing is listed here, so that every order is that of ids.
      const wanted = listed === true ? [] : expected.map((row) => `${nameOf(row)}/${row.standard}`);
      expect(await walk(filter, sort, 100), sort).toEqual(wanted);
      // Pages so short that common traits are met on a walk over all tokens.
      expect(await walk(filter, sort, 2), sort).toEqual(wanted);
    }
  }
  return expected.length;
}

/** All tokens of a list, page after page. */
async function walk(filter: TokensFilter, sort: TokenSort, limit: number): Promise<string[]> {
  const now = new Date(Number(receivedAt) * 1000);
  const names: string[] = [];
  let after: TokenKey | null = null;
  for (;;) {
    const { rows } = await sql<TokenKey>`
      with ${pageCtes(filter, sort, { limit, after }, now)}
      select part, value, contract_id as "contractId", token_id as "tokenId", standard
      from requested order by ord`.execute(log.db);
    names.push(...rows.map((row) => `${row.contractId}/${row.tokenId}/${row.standard}`));
    after = rows.at(-1) ?? null;
    if (after === null || rows.length < limit) return names;
  }
}

const traitFilters: [string, string][][] = [
  [["kind", "Ape"]],
  [
    ["Kind", "Ape"],
    ["FUR", "Gold"],
  ],
  [
    ["fur", "Tan"],
    ["eyes", "Laser"],
  ],
  [
    ["Kind", "Ape"],
    ["Fur", "3"],
    ["Eyes", "true"],
  ],
  [
    ["Kind", "Ape"],
    ["Hat", "Cap"],
  ],
];

const families = [[1], [2, 3], [1, 2, 3, 4]];

/** Every question to every family, against the documents. Returns how much was found. */
async function expectAll(): Promise<number> {
  const documents = await readDescribed(log.db);
  let found = 0;
  for (const contractIds of families) {
    for (const traits of traitFilters) {
      const wanted = traits.map(([type, value]) => `${type.toLowerCase()}=${value}`);
      const has: Has = (place) =>
        wanted.every((one) => documents.get(nameOf(place))?.has(one) ?? false);
      found += await expectSales(contractIds, traits, has);
      found += await expectTokens(contractIds, traits, has);
    }
  }
  return found;
}

async function expectSameInBulk(name: string, table: string): Promise<void> {
  const projection = projections.find((one) => one.name === name);
  if (projection === undefined) throw new Error(`no projection ${name}`);
  const schema = `${name}_bulk`;
  await deriveInBulk(log.db, { projection, schema });
  const live = await dumpTable(log.db, `${name}.${table}`);
  expect(await dumpTable(log.db, `${schema}.${table}`)).toEqual(live);
  await sql`drop schema ${sql.id(schema)} cascade`.execute(log.db);
  await sql`delete from engine.checkpoint where projection = ${schema}`.execute(log.db);
}

describe("tokens with several traits, and their sales", () => {
  it.each([
    [81, "of one standard each"],
    [82, "of both standards"],
  ])("are those that looking at each token finds, in history %i, %s", async (seed, ofBoth) => {
    const history = openHistory(randomFrom(seed));
    await log.clear();
    const { events, observations } = history.opening();
    await appendEvents(log.db, events);
    await appendObservations(log.db, observations);
    if (ofBoth === "of both standards") {
      const units = contracts.map(({ address: contract }, log) =>
        transferred(
          { contract, tokenId: 7n, to: addressOf(302), units: 2n },
          { at: block(1, 9), log },
        ),
      );
      await appendEvents(log.db, units);
    }
    await log.happens();
    let found = await expectAll();
    for (let turn = 0; turn < 2; turn += 1) {
      for (let step = 0; step < 4; step += 1) await happen(history);
      found += await expectAll();
    }
    expect(found).toBeGreaterThan(500);
    await expectSameInBulk("sales", "sale_count_bits");
    await expectSameInBulk("traits", "token_bitmap");
  });
});

async function happen(history: ReturnType<typeof openHistory>): Promise<void> {
  const { events, observations, height, isDropped } = history.step();
  if (isDropped) await log.readopt(block(1, height));
  else if (history.isOut(height)) await log.retract(block(1, height));
  await appendEvents(log.db, events);
  await appendObservations(log.db, observations);
  await log.happens();
}
