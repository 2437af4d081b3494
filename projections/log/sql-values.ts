import { type RawBuilder, sql } from "kysely";
import { type Hex, zeroAddress as zero } from "viem";
import { burnAddresses } from "../domain/burn-address.ts";

/** Hex as a `bytea` parameter. */
export function bytea(hex: Hex): RawBuilder<Buffer> {
  return sql`${Buffer.from(hex.slice(2), "hex")}::bytea`;
}

/** Hex as a `bytea` literal: for statements whose plan depends on the value. */
export function byteaLiteral(hex: Hex): RawBuilder<Buffer> {
  return sql`${sql.lit(`\\x${hex.slice(2)}`)}::bytea`;
}

/** Several as a `bytea[]`. */
export function byteaArray(hexes: readonly Hex[]): RawBuilder<unknown> {
  const digits = hexes.map((hex) => hex.slice(2));
  return sql`array(select decode(digits, 'hex') from unnest(${digits}::text[]) digits)`;
}

/** SQL: the address that mints come from and burns go to. */
export const zeroAddress = byteaLiteral(zero);

/** SQL: whether an address is one whose tokens nobody can move: the zero address or the customary dead one. */
export function isBurnAddress(address: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(${address} in (${sql.join([...burnAddresses].map(byteaLiteral))}))`;
}

/**
 * A parameter that the planner knows nothing of, as it knows nothing of any in a plan for all values: the two cost alike,
 * and a prepared statement is soon planned once instead of each time. `type` is SQL.
 */
export function anyValue<Type>(value: unknown, type: string): RawBuilder<Type> {
  return sql<Type>`(select ${value}::${sql.raw(type)})`;
}

/**
 * A row as it is stored, for people: numbers as exact decimal text, bytes as `0x` and hex. As JSON numbers, ids and
 * amounts beyond 2^53 would be rounded when they are parsed.
 */
export const storedRow = (row: RawBuilder<unknown>): RawBuilder<Record<string, unknown>> => sql`
  (select jsonb_object_agg(key, case
     when jsonb_typeof(value) = 'number' then to_jsonb(value #>> '{}')
     when value #>> '{}' ~ '^\\\\x([0-9a-f]{2})*$' then to_jsonb('0x' || substr(value #>> '{}', 3))
     else value end)
   from jsonb_each(to_jsonb(${row})))`;
