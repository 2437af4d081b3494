import { sql } from "kysely";
import { seaportAddresses } from "#abis/deployments.ts";
import { wrappedNative } from "#chains/index.ts";
import { appendStaged, openStage } from "#projections/log/append.ts";
import type { Database, Session } from "#projections/log/database.ts";
import { factKind } from "#projections/log/fact-kinds.ts";

const FACTS_IN_TRANSACTION = 3;
const CONTRACTS = 2_000;
const TOKENS = 10_000;
const ACCOUNTS = 50_000;

/** `mixed`: facts in the proportions of a chain with an exchange; `transfers`: ERC-721 transfers only. */
type GeneratedEvents = {
  facts: number;
  /** Number of the event before the first. */
  after?: number;
  mix?: "mixed" | "transfers";
  factsInBlock?: number;
};

/**
 * Fills `bench.event` with generated events as the recorder stages them: transactions of three events, blocks of sixty,
 * contracts and accounts of very unequal frequency. Of mixed facts a tenth are fills with their payload, a
 * third of them of offers, a tenth ERC-1155 transfers, one in a hundred a cancel and the rest ERC-721 transfers. Equal
 * arguments give equal events.
 */
export async function makeEvents(
  db: Database,
  { facts, after = 0, mix = "mixed", factsInBlock = 60 }: GeneratedEvents,
): Promise<void> {
  await sql`create schema if not exists bench`.execute(db);
  await sql`drop table if exists bench.event`.execute(db);
  const series = `generate_series(${after}::bigint, ${after + facts - 1})`;
  await sql
    .raw(`create unlogged table bench.event as ${eventsOf(series, mix, factsInBlock)}`)
    .execute(db);
  await sql`alter table bench.event add primary key (ord)`.execute(db);
  await sql`vacuum analyze bench.event`.execute(db);
}

/** Stages the events numbered (after, upTo], as they are or in blocks of another branch. */
export async function stageRange(
  session: Session,
  after: number,
  upTo: number,
  branch = "",
): Promise<void> {
  const hash =
    branch === "" ? sql`block_hash` : sql`sha256(block_hash || convert_to(${branch}, 'UTF8'))`;
  await openStage(session);
  await sql`
    insert into staged (ord, kind, chain_id, block_number, block_hash, block_timestamp, transaction_index,
                        transaction_hash, log_index, sub_index, contract, token_id, amount, from_address,
                        to_address, order_hash, payload)
    select ord, kind, chain_id, block_number, ${hash}, block_timestamp, transaction_index,
           transaction_hash, log_index, sub_index, contract, token_id, amount, from_address,
           to_address, order_hash, payload
    from bench.event where ord > ${after} and ord <= ${upTo} order by ord`.execute(session);
}

/** Appends the events numbered (after, upTo], `batch` of them in a transaction. */
export async function appendRange(
  db: Database,
  after: number,
  upTo: number,
  batch = 10_000,
): Promise<void> {
  for (let start = after; start < upTo; start += batch) {
    await db.transaction().execute(async (session) => {
      await stageRange(session, start, Math.min(upTo, start + batch));
      await appendStaged(session);
    });
  }
}

/** A pseudo-random number in [0, 1), determined by `value` and `seed`. */
export const fraction = (value: string, seed: number) =>
  `((hashint8extended(${value}, ${seed}) & 4294967295) / 4294967296.0::float8)`;

/** A digest of a series' name and a value. */
export const hashOf = (series: string, value: string) =>
  sql.raw(`sha256(convert_to('${series}' || (${value}), 'UTF8'))`);

/** A pseudo-random address. */
export const addressOf = (series: string, value: string) =>
  `substr(sha256(convert_to('${series}' || ${value}, 'UTF8')), 1, 20)`;

const account = (value: string, seed: number) =>
  addressOf("account", `floor(${ACCOUNTS} * power(${fraction(value, seed)}, 2))::bigint`);

const hex = (bytes: string) => `'0x' || encode(${bytes}, 'hex')`;

function eventsOf(series: string, mix: GeneratedEvents["mix"], factsInBlock: number): string {
  const { erc721_transfer, erc1155_transfer, order_fulfilled, order_cancelled } = factKind;
  const kind =
    mix === "transfers"
      ? `${erc721_transfer}`
      : `case when n % ${FACTS_IN_TRANSACTION} = 0 and tx % 10 < 3 then ${order_fulfilled}
              when n % ${FACTS_IN_TRANSACTION} = 1 and tx % 10 = 5 then ${erc1155_transfer}
              when n % ${FACTS_IN_TRANSACTION} = 2 and tx % 10 in (5, 6) then ${erc1155_transfer}
              when n % 100 = 99 then ${order_cancelled} else ${erc721_transfer} end`;
  return `
    select n + 1 as ord, kind::smallint, 1 as chain_id, height as block_number,
           sha256(int8send(height)) as block_hash, to_timestamp(1600000000 + 12 * height) as block_timestamp,
           (tx % ${factsInBlock})::int as transaction_index, sha256(int8send(tx + (1::bigint << 40))) as transaction_hash,
           (n % ${factsInBlock})::int as log_index, 0 as sub_index,
           case when is_order then '\\x${seaportAddresses["1.6"].slice(2)}'::bytea else contract end as contract,
           case when not is_order then token_id end as token_id,
           case when kind = ${erc1155_transfer} then 1 + n % 5 end::numeric as amount, giver as from_address,
           case when kind <> ${order_cancelled} then taker end as to_address,
           case when is_order then sha256(int8send(n)) end as order_hash,
           case when kind = ${order_fulfilled} and tx % 10 = 2 then ${acceptPayload}
                when kind = ${order_fulfilled} then ${fillPayload} when is_order then jsonb_build_object('zone', '0x${"00".repeat(20)}') end as payload
    from (
      select n, tx, height, kind, kind >= 30 as is_order, ${account("n", 3)} as giver, ${account("n", 4)} as taker,
             ${addressOf("contract", `floor(${CONTRACTS} * power(${fraction("tx", 1)}, 3))::bigint`)} as contract,
             floor(${TOKENS} * ${fraction("tx + (n % 3) / 2", 2)})::numeric as token_id
      from (
        select n, tx, n / ${factsInBlock} as height, ${kind} as kind
        from (select n, n / ${FACTS_IN_TRANSACTION} as tx from ${series} n) numbered
      ) placed
    ) event`;
}

const milliwei = `(1000000000000 * (1 + n % 900))`;
type Coin = { itemType: 0 | 1; token: string };
const coin: Coin = { itemType: 0, token: `0x${"00".repeat(20)}` };
const wrapped: Coin = { itemType: 1, token: wrappedNative[1] };
const money = ({ itemType, token }: Coin, share: number) =>
  `'itemType', ${itemType}, 'token', '${token}', 'identifier', '0', 'amount', (${milliwei} * ${share})::text`;
const leg = (currency: Coin, recipient: string, share: number) =>
  `jsonb_build_object(${money(currency, share)}, 'recipient', ${recipient})`;
const nft = `'itemType', 2, 'token', ${hex("contract")}, 'identifier', token_id::text, 'amount', '1'`;
/** A marketplace fee and a royalty. */
const fees = (currency: Coin) =>
  `${leg(currency, "'0x0000a26b00c1f0df003000390027140000faa719'", 5)}, ${leg(currency, hex("contract"), 50)}`;
const filled = (offer: string, consideration: string) => `jsonb_build_object(
  'zone', '0x${"00".repeat(20)}', 'sender', ${hex("taker")}, 'target', '${seaportAddresses["1.6"]}', 'calldataTail', '0x360c6ebe',
  'offer', jsonb_build_array(jsonb_build_object(${offer})), 'consideration', jsonb_build_array(${consideration}))`;

/** A listing filled directly. */
export const fillPayload = filled(nft, `${leg(coin, hex("giver"), 945)}, ${fees(coin)}`);
/** A bid filled by a token's owner. */
const acceptPayload = filled(
  money(wrapped, 1000),
  `jsonb_build_object(${nft}, 'recipient', ${hex("giver")}), ${fees(wrapped)}`,
);
