import { sql } from "kysely";
import { keccak256, stringToHex } from "viem";
import type { Database, Session } from "#projections/log/database.ts";
import { appendObservationsIn, type Observation } from "#projections/log/append.ts";
import { factKind, kindList, kindLiteral } from "#projections/log/fact-kinds.ts";
import { schemaNameOf, schemaOf } from "#projections/log/versions.ts";
import { abortTicks, lockCheckpoints, readCheckpoints } from "../checkpoint.ts";
import type { DerivationFailed } from "../failure.ts";

/** The latest entry of the log about a fact that a projection failed on: quarantined or released. */
export type QuarantineEntry = {
  projection: string;
  /** Position of the fact. */
  fact: bigint;
  /** Position of the entry itself. */
  entryPosition: bigint;
  kind: number;
  error: string | null;
  recordedAt: Date;
};

/** Facts quarantined for one projection at most: more of them mean that the program is wrong, not the facts. */
const MAX_QUARANTINED = 100;

const latestEntries = sql<QuarantineEntry>`
  select distinct on (payload ->> 'projection', amount)
         payload ->> 'projection' as projection, amount::bigint as fact, position as "entryPosition", kind,
         payload ->> 'error' as error, recorded_at as "recordedAt"
  from log.fact where kind in ${kindList("fact_quarantined", "fact_released")}
  order by payload ->> 'projection', amount, position desc`;

/** Latest entries, of every fact that was ever quarantined: by projection, then by position. */
export async function readQuarantine(session: Session): Promise<QuarantineEntry[]> {
  return (await latestEntries.execute(session)).rows;
}

/** Facts excluded from a projection, of one chain. */
export type ExcludedFacts = {
  projection: string;
  /** Null for facts of no chain. */
  chainId: number | null;
  facts: number;
  /** When the oldest was quarantined. */
  since: Date;
};

/** Facts excluded from projections by chain, released ones included until their replay. */
export async function readExcludedFacts(session: Session): Promise<ExcludedFacts[]> {
  const { rows } = await sql<ExcludedFacts>`
    select q.projection, coalesce(b.chain_id, k.chain_id) as "chainId", count(*)::int as facts,
           min(q."recordedAt") as since
    from (${latestEntries}) q
    join log.fact f on f.position = q.fact
    left join log.block b on b.block_id = f.block_id
    left join log.contract k on k.contract_id = f.contract_id
    left join engine.checkpoint c on c.projection = ${schemaNameOf(sql`q.projection`)}
    where q.kind = ${kindLiteral("fact_quarantined")} or q.fact = any (c.excluded_positions)
    group by 1, 2 order by 1, 2`.execute(session);
  return rows;
}

/** For people. */
export function describeExcludedFacts({ facts, chainId, since }: ExcludedFacts): string {
  const which = `${facts} ${facts === 1 ? "fact" : "facts"}${chainId === null ? "" : ` of chain ${chainId}`}`;
  return `excludes ${which}, the oldest since ${since.toISOString()}`;
}

export const isQuarantined = ({ kind }: QuarantineEntry) => kind === factKind.fact_quarantined;

/**
 * Quarantines the only fact of a window for the projection that fails on it. Throws the failure where that is no remedy:
 * for the retraction of a block, which concerns other facts, and beyond the limit.
 */
export async function quarantineFact(db: Database, failure: DerivationFailed): Promise<void> {
  const { projection, window, cause } = failure;
  await db.transaction().execute(async (session) => {
    const schema = schemaOf(projection);
    await lockCheckpoints(session, [schema]);
    if ((await readCheckpoints(session)).get(schema)?.position !== window.after) return;
    const fact = window.upTo;
    if (await isBlockState(session, fact)) throw failure;
    const quarantined = (await readQuarantine(session)).filter(
      (one) => isQuarantined(one) && one.projection === projection,
    );
    if (quarantined.length >= MAX_QUARANTINED || quarantined.some((one) => one.fact === fact))
      throw failure;
    const error = cause instanceof Error ? cause.message : String(cause);
    await appendQuarantined(session, { projection, fact, error });
  });
}

/** Appends that a fact is quarantined for a projection, and why. */
export async function appendQuarantined(
  session: Session,
  { projection, fact, error }: Omit<EntryToAppend, "after">,
): Promise<void> {
  const last = (await readQuarantine(session)).find(
    (one) => one.projection === projection && one.fact === fact,
  );
  const entry = { projection, fact, error, after: last?.entryPosition ?? 0n };
  await appendObservationsIn(session, [quarantineObservation("fact_quarantined", entry)]);
}

/**
 * Appends that a fact is released for one projection, or for all that have it quarantined. Returns which. Ticks that
 * started before are aborted: they would still add the fact to the excluded positions of their checkpoint.
 */
export async function appendReleased(
  db: Database,
  fact: bigint,
  projection: string | null,
): Promise<string[]> {
  return await db.transaction().execute(async (session) => {
    const entries = (await readQuarantine(session)).filter(
      (one) =>
        isQuarantined(one) &&
        one.fact === fact &&
        (projection === null || one.projection === projection),
    );
    const names = entries.map((one) => one.projection);
    await abortTicks(session, names.map(schemaOf));
    await appendObservationsIn(
      session,
      entries.map((one) =>
        quarantineObservation("fact_released", { ...one, error: null, after: one.entryPosition }),
      ),
    );
    return names;
  });
}

/** Whether the fact retracts or readopts a block. */
async function isBlockState(session: Session, position: bigint): Promise<boolean> {
  const { rows } = await sql<{ kind: number }>`
    select kind from log.fact where position = ${position}`.execute(session);
  const kind = rows[0]?.kind;
  return kind === factKind.block_retracted || kind === factKind.block_readopted;
}

type EntryToAppend = { projection: string; fact: bigint; error: string | null; after: bigint };

/** `after`, the position of the previous entry, distinguishes repeated entries about one fact. */
function quarantineObservation(
  kind: "fact_quarantined" | "fact_released",
  { projection, fact, error, after }: EntryToAppend,
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
