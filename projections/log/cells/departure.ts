import { type RawBuilder, sql } from "kysely";
import type { Database, Session } from "../../database.ts";
import { blockIdRange } from "../block-id.ts";

/** Of a chain, in the database that it is to leave. */
export type Departure = { readonly moveId: string; readonly isDone: boolean };

/**
 * Begins, or goes on with, a chain's move from this database. From now on the log can be closed for the chain: creating
 * what closes it waits for appends in progress, and they for it.
 */
export async function beginDeparture(db: Database, chainId: number): Promise<Departure> {
  return await db.transaction().execute(async (session) => {
    await sql`
      insert into ops.moved_chain (chain_id) values (${chainId}) on conflict do nothing`.execute(
      session,
    );
    const { rows } = await sql<Departure & { isGuarded: boolean }>`
      select move_id as "moveId", moved_at is not null as "isDone",
             exists (select from pg_trigger t
                     where t.tgrelid = 'log.fact'::regclass and t.tgname = ${guardOf(chainId)}) as "isGuarded"
      from ops.moved_chain where chain_id = ${chainId}`.execute(session);
    const [departure] = rows;
    if (departure === undefined) throw new Error(`chain ${chainId} cannot be moved`);
    if (!departure.isGuarded) await createGuard(session, chainId);
    return { moveId: departure.moveId, isDone: departure.isDone };
  });
}

const guardOf = (chainId: number) => `refuse_chain_${chainId}`;

async function createGuard(session: Session, chainId: number): Promise<void> {
  const { from, to } = blockIdRange(chainId);
  await sql
    .raw(`
    create trigger ${guardOf(chainId)} before insert on log.fact for each row
    when ((new.block_id >= ${from} and new.block_id < ${to}) or (new.block_id is null and new.contract_id is not null))
    execute function log.refuse_moved_chain(${chainId})`)
    .execute(session);
}

/** While a log takes no facts of a chain. */
export type Closing = {
  /** Of the last fact that was taken before. */
  readonly position: bigint;
  /** As the server writes it: which closing this is. */
  readonly until: string;
};

/** Takes no more facts of the chain, for some seconds at most: should the move end here, the log opens by itself. */
export async function closeChain(
  db: Database,
  chainId: number,
  atMostSeconds: number,
): Promise<Closing> {
  return await db.transaction().execute(async (session) => {
    // Whoever appends holds this row: who did not see that it is closed is waited for.
    const position = await lockHead(session);
    const { rows } = await sql<{ until: string }>`
      update ops.moved_chain set closed_until = clock_timestamp() + make_interval(secs => ${atMostSeconds})
      where chain_id = ${chainId} returning closed_until::text as until`.execute(session);
    return { position, until: rows[0]?.until ?? "" };
  });
}

export async function reopenChain(db: Database, chainId: number): Promise<void> {
  await sql`
    update ops.moved_chain set closed_until = null
    where chain_id = ${chainId} and moved_at is null`.execute(db);
}

/** From now on another database serves the chain. False: the log was opened meanwhile, so that nothing has changed. */
export async function finishDeparture(
  db: Database,
  chainId: number,
  { position, until }: Closing,
): Promise<boolean> {
  return await db.transaction().execute(async (session) => {
    await lockHead(session);
    await sql`
      update ops.moved_chain set position = ${position}, moved_at = now()
      where chain_id = ${chainId} and closed_until = ${until}::timestamptz
        and closed_until > clock_timestamp() and moved_at is null`.execute(session);
    const { rows } = await sql<{ isDone: boolean }>`
      select moved_at is not null as "isDone" from ops.moved_chain
      where chain_id = ${chainId}`.execute(session);
    return rows[0]?.isDone === true;
  });
}

async function lockHead(session: Session): Promise<bigint> {
  const { rows } = await sql<{ position: bigint }>`
    select position from log.head for update`.execute(session);
  return rows[0]?.position ?? 0n;
}

/** Whether a fact `f` of a log belongs to a chain: it is of one of its blocks or contracts, or of no chain at all. */
export function isOfChain(chainId: number): RawBuilder<boolean> {
  const { from, to } = blockIdRange(chainId);
  return sql<boolean>`(
    f.block_id >= ${from} and f.block_id < ${to}
    or f.block_id is null and (
      f.contract_id is null or exists (
        select from log.contract k where k.contract_id = f.contract_id and k.chain_id = ${chainId})))`;
}
