import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";

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
