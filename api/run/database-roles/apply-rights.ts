import { sql } from "kysely";
import { projectionNames } from "../../../projections/all.ts";
import type { Database, Session } from "../../../projections/database.ts";
import {
  type DatabaseRoles,
  processesOf,
  processRoles,
  storeDatabaseRoles,
} from "./database-roles.ts";
import { findWrongOwners, findWrongRights } from "./find-wrong-rights.ts";
import type { WrongRight } from "./find-wrong-roles.ts";
import { appendableKinds } from "./rights.ts";

/** A change of owner changes which rights are missing. */
const PASSES = 2;
const LOCK_TIMEOUT_MS = 10_000;

export type AppliedRights = {
  corrected: number;
  /** What the session's role could not correct. */
  remaining: WrongRight[];
};

/** Gives each role its rights and takes others from it. */
export async function applyRights(db: Database, roles: DatabaseRoles): Promise<AppliedRights> {
  return await db.transaction().execute(async (session) => {
    await sql.raw(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`).execute(session);
    await sql`lock table ops.service_role in share row exclusive mode`.execute(session);
    await storeDatabaseRoles(session, roles);
    await storeAppendableKinds(session, roles);
    let remaining = await findWrongRights(session, roles, projectionNames);
    const found = remaining.length;
    for (let pass = 1; pass <= PASSES && remaining.length > 0; pass += 1) {
      await runEach(session, remaining);
      remaining = await findWrongRights(session, roles, projectionNames);
    }
    return { corrected: Math.max(0, found - remaining.length), remaining };
  });
}

/** Gives each role the tables that are to be its own, before migrations of the owner change them. */
export async function applyOwners(db: Database, roles: DatabaseRoles): Promise<void> {
  await db.transaction().execute(async (session) => {
    await sql.raw(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`).execute(session);
    const names = [...projectionNames, ...(await readFormerProjections(session))];
    await runEach(session, await findWrongOwners(session, roles, names));
  });
}

/** Projections of earlier versions, which migrations drop. */
async function readFormerProjections(session: Session): Promise<string[]> {
  const { rows: found } = await sql<{ exists: boolean }>`
    select to_regclass('engine.checkpoint') is not null as exists`.execute(session);
  if (!found[0]?.exists) return [];
  const { rows } = await sql<{ name: string }>`
    select projection as name from engine.checkpoint`.execute(session);
  return rows.map(({ name }) => name);
}

/**
 * Each on its own: one that the session's role may not run leaves the others. Given as a value: in a text of ours the name
 * of an earlier version's table would become that of the present version.
 */
async function runEach(session: Session, wrong: readonly WrongRight[]): Promise<void> {
  const statements = JSON.stringify(wrong.flatMap((one) => one.statements));
  await sql`select set_config('rights.statements', ${statements}, true)`.execute(session);
  await sql`
    do $body$
    declare statement text;
    begin
      for statement in select jsonb_array_elements_text(current_setting('rights.statements')::jsonb) loop
        begin
          execute statement;
        exception when insufficient_privilege or lock_not_available or undefined_object or undefined_table then
          null;
        end;
      end loop;
    end $body$`.execute(session);
}

async function storeAppendableKinds(session: Session, roles: DatabaseRoles): Promise<void> {
  const kinds = processRoles(roles).flatMap((role) =>
    [...new Set(processesOf(roles, role).flatMap((process) => appendableKinds[process]))].map(
      (kind) => ({ role, kind }),
    ),
  );
  await sql`delete from ops.appendable_kind`.execute(session);
  await sql`
    insert into ops.appendable_kind (role, kind)
    select * from unnest(${kinds.map(({ role }) => role)}::text[], ${kinds.map(({ kind }) => kind)}::smallint[])`.execute(
    session,
  );
}
