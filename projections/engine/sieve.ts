import { type KyselyPlugin, OperationNodeTransformer, type RawNode, sql } from "kysely";
import type { Session } from "../database.ts";
import type { Target } from "./checkpoint.ts";
import type { Projection, Window } from "./projection.ts";
import { isLeftOut, readVerdicts, type Verdict } from "./quarantine.ts";
import { holdsAny, readKinds } from "./window.ts";

/**
 * Of the facts that were ever put aside for a projection or for one whose tables it reads: those that a window leaves
 * out, and those it lets in again.
 */
export function sortVerdicts(
  verdicts: readonly Verdict[],
  { projection: { name, reads = [] } }: Target,
  { after, upTo }: Window,
) {
  const own = verdicts.filter((one) => one.projection === name || reads.includes(one.projection));
  const left = new Set(own.filter((one) => isLeftOut(one, upTo)).map(({ fact }) => fact));
  const returned = own
    .filter((one) => isLeftOut(one, after) && one.fact <= after && !left.has(one.fact))
    .map(({ fact }) => fact);
  return { left: [...left], returned: [...new Set(returned)] };
}

/** An open window: the kinds of its facts, and what was ever said of facts that were put aside. */
export type Sifted = { kinds: ReadonlySet<number>; verdicts: readonly Verdict[] };

/** The same for all targets that fold the window. */
export async function readSifted(session: Session): Promise<Sifted> {
  return { verdicts: await readVerdicts(session), kinds: await readKinds(session) };
}

/** Applies an open window to a target, without the facts that are put aside for it. */
export async function applyWindow(
  session: Session,
  target: Target,
  window: Window,
  { kinds, verdicts }: Sifted,
): Promise<void> {
  const { projection, schema } = target;
  const { left, returned } = sortVerdicts(verdicts, target, window);
  const moved = [...left, ...returned];
  if (moved.length === 0) {
    if (isConcerned(projection, kinds)) await projection.apply(session, schema, window, kinds);
    return;
  }
  // Other targets of the tick fold the window as it was.
  await sql`
    create temporary table withheld on commit drop as
    select * from change where position = any (${moved}::bigint[])`.execute(session);
  await sql`delete from change where position = any (${moved}::bigint[])`.execute(session);
  await sql`
    insert into change (weight, position, block_id, transaction_index, log_index, contract_id, sub_index, kind,
                        token_id, amount, from_address, to_address, order_hash, recorded_at, payload)
    select 1, f.position, f.block_id, f.transaction_index, f.log_index, f.contract_id, f.sub_index, f.kind,
           f.token_id, f.amount, f.from_address, f.to_address, f.order_hash, f.recorded_at, f.payload
    from log.fact f
    where f.position = any (${returned}::bigint[])
      and not exists (select from dropped d where d.block_id = f.block_id)`.execute(session);
  const sifted = await readKinds(session);
  await sieved(session, left, (through) => projection.apply(through, schema, window, sifted));
  await sql`delete from change where position = any (${moved}::bigint[])`.execute(session);
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
