import { zeroAddress } from "viem";
import { chains } from "#chains/index.ts";
import { maxPriceAge } from "../engine/usd.ts";

/** A view for analysts: its comment, its columns as name, expression and comment, and its from clause. */
export type View = {
  readonly name: string;
  readonly comment: string;
  readonly columns: readonly (readonly [name: string, expression: string, comment: string])[];
  readonly from: string;
};

/** Bytes as lower-case 0x hex. */
export const hex = (bytes: string) => `'0x' || encode(${bytes}, 'hex')`;

/** Wei in whole units of a currency with 18 decimals, exact. */
export const inUnits = (wei: string) => `trim_scale(${wei} * 0.000000000000000001)`;

export const standardColumn = (number: string) =>
  `case ${number} when 721 then 'erc721' when 1155 then 'erc1155' end`;

/** Statements that create a view in a schema, with comments on it and its columns. */
export function statementsOf(schema: string, { name, comment, columns, from }: View): string[] {
  const view = `${schema}.${name}`;
  const selected = columns.map(([column, expression]) => `${expression} as ${column}`);
  return [
    `create view ${view} as select ${selected.join(", ")} from ${from}`,
    `comment on view ${view} is ${quoted(comment)}`,
    ...columns.map(([column, , text]) => `comment on column ${view}.${column} is ${quoted(text)}`),
  ];
}

export const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** Joins to the contract and collection of row `o`; `named` are their columns. */
export const namingJoins = `
  join log.contract k on k.contract_id = o.contract_id
  left join collections.contract m on m.contract_id = o.contract_id
  left join collections.collection c on c.collection_id = coalesce(m.collection_id, o.contract_id)
  left join log.contract main on main.contract_id = c.collection_id`;

export const namingColumns = [
  ["collection", hex("coalesce(main.address, k.address)"), "Its collection's primary contract"],
  ["collection_slug", "c.slug", "Its collection's slug; null for a contract without a collection"],
  ["contract", hex("k.address"), "NFT contract"],
] as const satisfies View["columns"];

const bytea = (address: string) => `'\\x${address.slice(2)}'::bytea`;

const nativeCurrencies = chains.flatMap(({ id, wrapped }) =>
  [zeroAddress, wrapped.address].map((address) => `(${id}, ${bytea(address)})`),
);

/** SQL: whether a chain's `currency` is its native one or the wrapped form, which have the same value. */
export const isNative = (chain: string, currency: string) =>
  `((${chain}, ${currency}) in (${nativeCurrencies.join(", ")}))`;

/** SQL: the coin of a chain's native currency. */
export const coinColumn = (chain: string) =>
  `case ${chain} ${chains.map(({ id, coin }) => `when ${id} then '${coin}'`).join(" ")} end`;

/** SQL: USD value of wei of a chain's native currency, at the last price before a time. */
export const usdAt = (chain: string, wei: string, at: string) => `(
  select (${wei} * p.price_e8 * 0.00000000000000000000000001)::double precision
  from coin_prices.tick p
  where p.coin = ${coinColumn(chain)} and p.minute <= ${at} and p.minute >= ${at} - ${maxPriceAge}
  order by p.minute desc limit 1)`;

/** SQL: the chains as rows of one column, `chain (id)`. */
export const chainRows = `(values ${chains.map(({ id }) => `(${id})`).join(", ")}) chain (id)`;
