import { sql } from "kysely";
import { keccak256, stringToHex } from "viem";
import type { Database, Session } from "../database.ts";
import { appendObservationsIn, type Observation } from "../log/append.ts";
import { factKind } from "../log/fact-kind.ts";
import { kindList } from "../log/fact-kind-sql.ts";
import { lockCheckpoints, readCheckpoints, refuseTicks } from "./checkpoint.ts";
import type { DerivationFailed } from "./failure.ts";

/** What the log says last about a fact that a projection could not take in. */
export type Verdict = {
  projection: string;
  /** Position of the fact. */
  fact: bigint;
  /** Position at which this was said. */
  saidAt: bigint;
  kind: number;
  error: string | null;
  recordedAt: Date;
};

/** Facts that one projection leaves out. More than these are no accident of the log: then the program is wrong. */
const MOST = 100;

const verdicts = sql<Verdict>`
  select distinct on (payload ->> 'projection', amount)
         payload ->> 'projection' as projection, amount::bigint as fact, position as "saidAt", kind,
         payload ->> 'error' as error, recorded_at as "recordedAt"
  from log.fact where kind in ${kindList("fact_quarantined", "fact_released")}
  order by payload ->> 'projection', amount, position desc`;

/** The last word on every fact that was ever put aside: by projection, then by position. */
export async function readVerdicts(session: Session): Promise<Verdict[]> {
  return (await verdicts.execute(session)).rows;
}

/** Facts that a projection leaves out. */
export type LeftOut = {
  projection: string;
  /** Null for what is said of no chain. */
  chainId: number | null;
  facts: number;
  /** When the oldest was put aside. */
  since: Date;
};

/** What projections leave out, of each chain, also where the tables are still to be derived with it. */
export async function readLeftOut(session: Session): Promise<LeftOut[]> {
  const { rows } = await sql<LeftOut>`
    select projection, coalesce((f.block_id >> 44)::int, k.chain_id) as "chainId", count(*)::int as facts,
           min(v."recordedAt") as since
    from (${verdicts}) v
    join log.fact f on f.position = v.fact
    left join log.contract k on k.contract_id = f.contract_id
    left join engine.checkpoint c using (projection)
    where v.kind = ${factKind.fact_quarantined} or v.fact = any (c.left_out)
    group by 1, 2 order by 1, 2`.execute(session);
  return rows;
}

/** In words, what a projection leaves out. */
export function leftOutWords({ facts, chainId, since }: LeftOut): string {
  const which = `${facts} ${facts === 1 ? "fact" : "facts"}${chainId === null ? "" : ` of chain ${chainId}`}`;
  return `leaves out ${which}, the oldest since ${since.toISOString()}`;
}

export const isHeld = ({ kind }: Verdict) => kind === factKind.fact_quarantined;

/**
 * Puts the one fact of a window aside for the projection that fails on it. Throws when that cannot help: a block's
 * retraction is no fact of the projection's own, and too many are aside already.
 */
export async function putAside(db: Database, failure: DerivationFailed): Promise<void> {
  const { projection, window, cause } = failure;
  await db.transaction().execute(async (session) => {
    await lockCheckpoints(session, [projection]);
    if ((await readCheckpoints(session)).get(projection)?.position !== window.after) return;
    const fact = window.upTo;
    if (await isOfBlock(session, fact)) throw failure;
    const held = (await readVerdicts(session)).filter(
      (one) => isHeld(one) && one.projection === projection,
    );
    if (held.length >= MOST || held.some((one) => one.fact === fact)) throw failure;
    const error = cause instanceof Error ? cause.message : String(cause);
    await hold(session, { projection, fact, error });
  });
}

/** Says that a projection leaves a fact out, and why. */
export async function hold(
  session: Session,
  { projection, fact, error }: Omit<Said, "after">,
): Promise<void> {
  const last = (await readVerdicts(session)).find(
    (one) => one.projection === projection && one.fact === fact,
  );
  const verdict = { projection, fact, error, after: last?.saidAt ?? 0n };
  await appendObservationsIn(session, [verdictObserved("fact_quarantined", verdict)]);
}

/**
 * Says that projections hold a fact no more: one of them, or all that do. Returns which. A tick that began before would
 * still note the fact as left out: it is refused, so that what a checkpoint says from here on is final.
 */
export async function release(
  db: Database,
  fact: bigint,
  projection: string | null,
): Promise<string[]> {
  return await db.transaction().execute(async (session) => {
    const held = (await readVerdicts(session)).filter(
      (one) =>
        isHeld(one) && one.fact === fact && (projection === null || one.projection === projection),
    );
    const names = held.map((one) => one.projection);
    await refuseTicks(session, names);
    await appendObservationsIn(
      session,
      held.map((one) =>
        verdictObserved("fact_released", { ...one, error: null, after: one.saidAt }),
      ),
    );
    return names;
  });
}

/** Whether it is said of a block, and so of all facts of that. */
async function isOfBlock(session: Session, position: bigint): Promise<boolean> {
  const { rows } = await sql<{ kind: number }>`
    select kind from log.fact where position = ${position}`.execute(session);
  const kind = rows[0]?.kind;
  return kind === factKind.block_retracted || kind === factKind.block_readopted;
}

type Said = { projection: string; fact: bigint; error: string | null; after: bigint };

/** The same may be said again after something else was: `after` tells them apart. */
function verdictObserved(
  kind: "fact_quarantined" | "fact_released",
  { projection, fact, error, after }: Said,
): Observation {
  return {
    kind,
    chainId: 0,
    identity: keccak256(stringToHex([kind, projection, fact, after].join("/"))),
    recordedAt: new Date(),
    amount: fact,
    payload: { projection, ...(error === null ? {} : { error }) },
  };
}
