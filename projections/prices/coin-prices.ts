import { type RawBuilder, sql } from "kysely";
import { keccak256, stringToHex } from "viem";
import type { Coin } from "#chains/coins.ts";
import { isObservation } from "../engine/fact-window.ts";
import type { FactWindow, Projection } from "../engine/projection.ts";
import type { Observation } from "../log/append.ts";
import type { Session } from "../log/database.ts";
import { versions } from "../log/versions.ts";

/** Prices are whole numbers of 10⁻⁸ USD. */
export const priceDecimals = 8;

export type PriceSource = { name: string; priceE8: bigint };

export type PriceTick = {
  coin: Coin;
  /** Unix milliseconds of a whole minute. */
  minuteMs: number;
  priceE8: bigint;
  /** The exchanges that agree on it. */
  sources: readonly PriceSource[];
  /** Of prices from an exchange's history: the interval between them. */
  interval?: "1h";
};

/** One fact per coin and minute, from whichever process. */
export function priceTicked({
  coin,
  minuteMs,
  priceE8,
  sources,
  interval,
}: PriceTick): Observation {
  return {
    kind: "price_ticked",
    chainId: 0,
    identity: priceIdentity(coin, minuteMs),
    recordedAt: new Date(minuteMs),
    amount: priceE8,
    payload: {
      type: coin,
      sources: sources.map(({ name, priceE8: price }) => ({ name, price: price.toString() })),
      ...(interval === undefined ? {} : { interval }),
    },
  };
}

export function priceIdentity(coin: Coin, minuteMs: number) {
  return keccak256(stringToHex(`price_ticked/${coin}/${minuteMs / 60_000}`));
}

/** Prices in 10⁻⁸ USD. `hour` is derived from `tick`: a year has 8,760 hours and half a million ticks. */
function tables(schema: string): readonly string[] {
  return [
    `create table "${schema}"."tick" (
       coin      text        not null,
       minute    timestamptz not null,
       price_e8  bigint      not null,
       primary key (coin, minute)
     )`,
    `create table "${schema}"."hour" (
       coin      text        not null,
       hour      timestamptz not null,
       open_e8   bigint      not null,
       high_e8   bigint      not null,
       low_e8    bigint      not null,
       close_e8  bigint      not null,
       primary key (coin, hour)
     )`,
  ];
}

const isTick = isObservation("price_ticked");

/** Coin prices by minute and by hour. Prices belong to no block, so they are always effective. */
export const coinPricesProjection: Projection = {
  name: "coin_prices",
  version: versions.coin_prices.version,
  handles: ["price_ticked"],
  tables,
  async apply(session, schema, window) {
    await addTicks(session, schema, window);
    const affected = sql`
      select distinct payload ->> 'type' as coin, ${hourOf(sql`recorded_at`)} as hour
      from ${window.changes} where ${isTick}`;
    const hours = sql.table(`${schema}.hour`);
    await sql`
      delete from ${hours} h using (${affected}) t where h.coin = t.coin and h.hour = t.hour
    `.execute(session);
    await addHours(
      session,
      schema,
      sql`(${affected}) t join ${sql.table(`${schema}.tick`)} k
          on k.coin = t.coin and k.minute >= t.hour and k.minute < t.hour + interval '1 hour'`,
    );
  },
  deriveAll: [
    { name: "minutes", derive: addTicks },
    {
      name: "hours",
      derive: (session, schema) => addHours(session, schema, sql`${sql.table(`${schema}.tick`)} k`),
    },
  ],
};

/** In UTC, also where the session's time zone is off by half an hour. */
function hourOf(time: RawBuilder<unknown>): RawBuilder<Date> {
  return sql<Date>`date_bin('1 hour', ${time}, timestamptz '2000-01-01 00:00:00+00')`;
}

async function addTicks(session: Session, schema: string, window: FactWindow): Promise<void> {
  await sql`
    insert into ${sql.table(`${schema}.tick`)} (coin, minute, price_e8)
    select distinct on (1, 2) payload ->> 'type', recorded_at, amount::bigint
    from ${window.changes} where ${isTick}
    order by 1, 2, position
    on conflict do nothing`.execute(session);
}

async function addHours(
  session: Session,
  schema: string,
  ticks: RawBuilder<unknown>,
): Promise<void> {
  await sql`
    insert into ${sql.table(`${schema}.hour`)} (coin, hour, open_e8, high_e8, low_e8, close_e8)
    select k.coin, ${hourOf(sql`k.minute`)}, (array_agg(k.price_e8 order by k.minute))[1],
           max(k.price_e8), min(k.price_e8), (array_agg(k.price_e8 order by k.minute desc))[1]
    from ${ticks} group by 1, 2`.execute(session);
}
