import { sql } from "kysely";
import type { Session } from "../database.ts";
import type { Projection } from "../engine/projection.ts";
import { factKind } from "../log/fact-kind.ts";
import { tables } from "./table.ts";

const { twin_submitted, twin_answered } = factKind;

/** Twins that wait for a partner's answer. */
export const twinsProjection: Projection = {
  name: "twins",
  version: 1,
  folds: ["twin_submitted", "twin_answered"],
  tables,
  async apply(session, schema) {
    await foldTwins(session, schema);
    await foldAnswers(session, schema);
    await queue(session, schema);
  },
};

const hashOf = (member: string) => sql`decode(substr(c.payload ->> ${sql.lit(member)}, 3), 'hex')`;

async function foldTwins(session: Session, schema: string): Promise<void> {
  const twin = sql.table(`${schema}.twin`);
  await sql`
    delete from ${twin} t using change c
    where c.kind = ${twin_submitted} and c.weight < 0 and t.position = c.position`.execute(session);
  await sql`
    insert into ${twin}
    select c.position, k.chain_id, c.order_hash, ${hashOf("twinHash")}, c.payload ->> 'marketplace',
           (c.payload #>> '{components,endTime}')::numeric, true
    from change c join log.contract k using (contract_id)
    where c.kind = ${twin_submitted} and c.weight > 0`.execute(session);
}

async function foldAnswers(session: Session, schema: string): Promise<void> {
  const answer = sql.table(`${schema}.answer`);
  await sql`
    delete from ${answer} a using change c
    where c.kind = ${twin_answered} and c.weight < 0 and a.position = c.position`.execute(session);
  await sql`
    insert into ${answer}
    select c.position, k.chain_id, c.order_hash, ${hashOf("twinHash")}, c.payload ->> 'marketplace'
    from change c join log.contract k using (contract_id)
    where c.kind = ${twin_answered} and c.weight > 0`.execute(session);
}

/** Of the listings that the window says something of. */
async function queue(session: Session, schema: string): Promise<void> {
  await sql`
    update ${sql.table(`${schema}.twin`)} t set is_queued = told.is_queued
    from (
      select w.position, not exists (
               select from ${sql.table(`${schema}.answer`)} a
               where a.chain_id = w.chain_id and a.order_hash = w.order_hash and a.twin_hash = w.twin_hash
                 and a.marketplace = w.marketplace
             ) as is_queued
      from (
        select distinct k.chain_id, c.order_hash
        from change c join log.contract k using (contract_id)
        where c.kind in (${twin_submitted}, ${twin_answered})
      ) touched
      join ${sql.table(`${schema}.twin`)} w using (chain_id, order_hash)
    ) told
    where t.position = told.position and t.is_queued <> told.is_queued`.execute(session);
}
