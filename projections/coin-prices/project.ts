import { type RawBuilder, sql } from "kysely";
import type { Session } from "../log/database.ts";
import { isObservation } from "../engine/fact-window.ts";
import type { FactWindow, Projection } from "../engine/projection.ts";
import { versions } from "../log/versions.ts";
import { tables } from "./tables.ts";

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
