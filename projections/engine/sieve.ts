import { type KyselyPlugin, OperationNodeTransformer, type RawNode, sql } from "kysely";
import type { Session } from "../database.ts";
import type { Checkpoint, Target } from "./checkpoint.ts";
import { type Aside, leaveOut } from "./left-out.ts";
import type { Projection, Window } from "./projection.ts";
import { readVerdicts } from "./quarantine.ts";
import { holdsAny, readKinds } from "./window.ts";

/** An open window: the kinds of its facts, and which facts are put aside. */
export type Sifted = Aside & { kinds: ReadonlySet<number> };

/** The same for all targets that fold the window. */
export async function readSifted(
  session: Session,
  checkpoints: Map<string, Checkpoint>,
): Promise<Sifted> {
  return {
    checkpoints,
    verdicts: await readVerdicts(session),
    kinds: await readKinds(session),
  };
}

/** Applies an open window to a target, without the facts that it leaves out. */
export async function applyWindow(
  session: Session,
  target: Target,
  window: Window,
  sifted: Sifted,
): Promise<void> {
  const { projection, schema } = target;
  const { kinds } = sifted;
  const left = await leaveOut(session, target, window.after, sifted);
  if (left.length === 0) {
    if (isConcerned(projection, kinds)) await projection.apply(session, schema, window, kinds);
    return;
  }
  // Other targets of the tick fold the window as it was.
  await sql`
    create temporary table withheld on commit drop as
    select * from change where position = any (${left}::bigint[])`.execute(session);
  await sql`delete from change where position = any (${left}::bigint[])`.execute(session);
  const counted = await readKinds(session);
  await sieved(session, left, (through) => projection.apply(through, schema, window, counted));
  await sql`insert into change select * from withheld`.execute(session);
  await sql`drop table withheld`.execute(session);
}

/** Whether a window with facts of these kinds may change the tables of a projection. */
export function isConcerned({ folds }: Projection, kinds: ReadonlySet<number>): boolean {
  return folds === undefined || holdsAny(kinds, folds);
}

/** Does work in which statements that read the log find it without some facts. Without any, nothing is done for it. */
export async function sieved(
  session: Session,
  left: readonly bigint[],
  work: (session: Session) => Promise<void>,
): Promise<void> {
  if (left.length === 0) return await work(session);
  await sql`
    create temporary view counted_fact as
    select * from log.fact where position <> all (${sql.lit(`{${left.join()}}`)}::bigint[])`.execute(
    session,
  );
  await work(session.withPlugin(sieve));
  await sql`drop view pg_temp.counted_fact`.execute(session);
}

/** Has statements read the view in place of the table. */
class Sieve extends OperationNodeTransformer {
  protected override transformRaw(node: RawNode): RawNode {
    const { sqlFragments, ...rest } = super.transformRaw(node);
    return {
      ...rest,
      sqlFragments: sqlFragments.map((text) =>
        text.replaceAll(/\blog\.fact\b/g, "pg_temp.counted_fact"),
      ),
    };
  }
}

const transformer = new Sieve();
const sieve: KyselyPlugin = {
  transformQuery: ({ node }) => transformer.transformNode(node),
  transformResult: async ({ result }) => result,
};
