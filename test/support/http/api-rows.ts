import { sql } from "kysely";
import { type Address, type Hex, pad, toHex, zeroAddress } from "viem";
import { type ChainId, wrappedNative } from "#chains/index.ts";
import { allProjections } from "#projections/all.ts";
import { collectionStatsProjection } from "#projections/collections/collection-stats.ts";
import { openWindow } from "#projections/engine/fact-window.ts";
import { firstBlockId } from "#projections/log/blocks.ts";
import type { Database } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { addressOf, createProjections } from "../database/given.ts";

/** The current time of the tests. */
export const today = new Date("2026-03-10T12:34:56.000Z");

type Contract = {
  id: number;
  chainId: ChainId;
  family?: number;
  slug: string;
  name: string;
  standard: 721 | 1155;
};

/** `kinSecond` is the second contract of the collection with primary `kin`; they share token ids. */
export const contracts = {
  punks: { id: 1, chainId: 1, slug: "punks", name: "Crypto Punks", standard: 721 },
  kin: { id: 2, chainId: 1, slug: "kin", name: "Kin", standard: 721 },
  kinSecond: { id: 3, chainId: 1, family: 2, slug: "kin", name: "Kin", standard: 721 },
  editions: { id: 4, chainId: 1, slug: "editions", name: "100%_Editions", standard: 1155 },
  apes: { id: 5, chainId: 33139, slug: "apes", name: "Apes", standard: 721 },
} satisfies Record<string, Contract>;

export const addressOfContract = (contract: Contract): Address => addressOf(contract.id);

export type SeededSale = {
  contract: Contract;
  block: number;
  transactionIndex: number;
  ordinal: number;
  tokenId: bigint;
  currency: Address;
  priceWei: bigint;
  ageHours: number;
};

/** 137 sales over four contracts of chain 1, with several in one block and in one transaction; 3 on 33139. */
export const seededSales: SeededSale[] = [
  ...Array.from({ length: 137 }, (_, index) => seededSale(index)),
  ...Array.from({ length: 3 }, (_, index) => ({ ...seededSale(index), contract: contracts.apes })),
];

function seededSale(index: number): SeededSale {
  const traded = [contracts.punks, contracts.kin, contracts.kinSecond, contracts.editions];
  return {
    contract: traded[index % traded.length] ?? contracts.punks,
    block: 1000 + Math.floor(index / 5),
    transactionIndex: Math.floor(index / 2) % 3,
    ordinal: index,
    tokenId: BigInt(index % 7),
    currency: index % 3 === 0 ? wrappedNative[1] : zeroAddress,
    priceWei: BigInt(index + 1) * 10n ** 17n,
    ageHours: index,
  };
}

/** Creates the tables of every projection, with rows as derived. All sales of the kin are wash trades. */
export async function seedRows(db: Database): Promise<void> {
  const feeRecipient = addressOf(99);
  await createProjections(db, allProjections({ feeRecipient }));
  for (const contract of Object.values(contracts) as Contract[]) await seedContract(db, contract);
  await seedTokens(db);
  for (const sale of seededSales) await seedSale(db, sale);
  await sql`
    insert into sales.total
    select chain_id, coalesce(contract_id, 0), count(*) from sales.sale
    group by grouping sets ((chain_id, contract_id), (chain_id))`.execute(db);
  await sql`
    insert into sales.volume
    select contract_id, currency, date_trunc('hour', timestamp), count(*), sum(total_wei) from sales.sale
    group by 1, 2, 3`.execute(db);
  await sql`
    insert into sales.wash_trade
    select block_id, transaction_index, ordinal, contract_id, token_id, 'back_and_forth' from sales.sale
    where contract_id = any (${[contracts.kin.id, contracts.kinSecond.id]}::int[])`.execute(db);
  await deriveStats(db);
}

/** Derives statistics from the existing rows. */
async function deriveStats(db: Database): Promise<void> {
  await sql`insert into floors.snapshot values (1, ${today}), (33139, ${today})`.execute(db);
  await db.transaction().execute(async (session) => {
    const nothing = await openWindow(session, { after: 0n, upTo: 0n });
    await collectionStatsProjection([]).apply(session, schemaOf("collection_stats"), nothing);
  });
}

async function seedContract(db: Database, contract: Contract): Promise<void> {
  const { id, chainId, slug, name, standard, family } = contract;
  await sql`
    insert into log.contract (contract_id, chain_id, address) overriding system value
    values (${id}, ${chainId}, ${bytes(addressOfContract(contract))})`.execute(db);
  await sql`insert into collections.contract values (${id}, ${family ?? id}, ${standard}, true, true)`.execute(
    db,
  );
  if (family !== undefined) return;
  await sql`
    insert into collections.collection
    values (${id}, ${chainId}, ${slug}, ${name}, 'SYM', ${standard}, ${id === 1}, true, ${firstBlockId(chainId, 900n)},
            ${today}, ${today})`.execute(db);
}

async function seedTokens(db: Database): Promise<void> {
  const [alice, bob] = [bytes(addressOf(50)), bytes(addressOf(51))];
  const zero = bytes(zeroAddress);
  await sql`
    insert into ownership.token (contract_id, token_id, standard, owner, supply, is_burned) values
      (1, 0, 721, ${alice}, 1, false), (1, ${(2n ** 256n - 1n).toString()}::numeric, 721, ${bob}, 1, false),
      (2, 7, 721, ${zero}, 0, true), (3, 7, 721, ${bob}, 1, false), (2, 8, 721, ${zero}, 0, true),
      (4, 1, 1155, null, 30, false)`.execute(db);
  await sql`insert into ownership.balance values (4, 1, ${alice}, 10), (4, 1, ${bob}, 20)`.execute(
    db,
  );
  await sql`
    insert into ownership.holder values
      (1, ${alice}, 1), (1, ${bob}, 1), (2, ${alice}, 3), (3, ${alice}, 1), (3, ${bob}, 1),
      (4, ${alice}, 1), (4, ${bob}, 1)`.execute(db);
  await sql`
    insert into ownership.collection (contract_id, erc721_tokens, tokens, supply, units, holders) values
      (1, 2, 2, 2, 2, 2), (2, 5, 5, 3, 3, 1), (3, 2, 2, 2, 2, 2), (4, 0, 1, 1, 30, 2)`.execute(db);
}

async function seedSale(db: Database, sale: SeededSale): Promise<void> {
  const { contract, block, transactionIndex, ordinal, tokenId, priceWei } = sale;
  const fees = [
    { recipient: addressOf(60), wei: String(priceWei / 100n), bps: 100, kind: "service" },
  ];
  await sql`
    insert into sales.sale
    values (${firstBlockId(contract.chainId, BigInt(block))}, ${transactionIndex}, ${ordinal},
            ${bytes(wordOf(contract.chainId * 1000 + ordinal))}, ${contract.chainId}, ${contract.id}, ${tokenId}, 1,
            ${priceWei}, ${priceWei}, ${bytes(sale.currency)}, ${bytes(addressOf(50))},
            ${bytes(addressOf(51))}, 'ask', 'unknown', 'seaport', '1.6', ${bytes(addressOf(70))}, ${bytes(wordOf(ordinal))},
            ${JSON.stringify(fees)}::jsonb, null, null, ${ordinal}, ${bytes(wordOf(ordinal + 500))}, ${block},
            ${bytes(wordOf(block))}, ${new Date(today.getTime() - sale.ageHours * 3_600_000)}, null, false)`.execute(
    db,
  );
}

export const wordOf = (value: number): Hex => pad(toHex(value + 1), { size: 32 });

function bytes(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), "hex");
}
