import { sql } from "kysely";
import type { Hex } from "viem";
import { burnAddresses } from "../domain/burn-address.ts";
import { mostFolded, TooMuchToFold } from "../engine/fold-budget.ts";
import type { Point } from "../engine/point.ts";
import type { Database } from "../log/database.ts";
import { foldPastHolders, type Held, readPastHolders } from "./read-past-holders.ts";

/** What an address held, as `ids units`. Null: nothing. */
export type HolderDifference = {
  readonly contract: Hex;
  readonly owner: string;
  readonly rebuilt: string | null;
  readonly folded: string | null;
};

export type PastVerification = {
  /** Contracts whose holders were compared. */
  readonly contracts: number;
  readonly holders: number;
  readonly different: number;
  readonly examples: readonly HolderDifference[];
  /** Contracts with more to fold than one answer may. */
  readonly tooLarge: number;
};

type Options = { readonly maxExamples: number; readonly sample?: number | undefined };

/**
 * Compares the holders at a point as today's rows tell them, without what moved since, with those that the log alone does.
 * Contracts with ranges are left out: today's rows are not used for them. The session reads one snapshot.
 */
export async function verifyPastHolders(
  db: Database,
  point: Point,
  { maxExamples, sample }: Options,
): Promise<PastVerification> {
  const found = { contracts: 0, holders: 0, different: 0, tooLarge: 0 };
  const examples: HolderDifference[] = [];
  for (const { contractId, contract } of await pickContracts(db, point, sample)) {
    const compared = await compareContract(db, contractId, point);
    if (compared === null) {
      found.tooLarge += 1;
      continue;
    }
    found.contracts += 1;
    found.holders += compared.holders;
    found.different += compared.different.length;
    const more = compared.different.slice(0, maxExamples - examples.length);
    examples.push(...more.map((one) => ({ contract, ...one })));
  }
  return { ...found, examples };
}

async function pickContracts(db: Database, { chainId }: Point, sample: number | undefined) {
  const { rows } = await sql<{ contractId: number; contract: Hex }>`
    select k.contract_id as "contractId", k.address as contract from log.contract k
    where k.chain_id = ${chainId}
      and exists (select from ownership.token t where t.contract_id = k.contract_id)
      and not exists (select from ownership.last_range r where r.contract_id = k.contract_id)
    ${sample === undefined ? sql`order by k.contract_id` : sql`order by random() limit ${sample}`}`.execute(
    db,
  );
  return rows;
}

/** Null: more to fold than one answer may. */
async function compareContract(db: Database, contractId: number, point: Point) {
  try {
    const slice = { limit: mostFolded, after: null };
    const { rows } = await readPastHolders(db, [contractId], point, slice);
    const rebuilt = new Map<string, string>(
      rows.map(({ owner, tokens, units }) => [owner, `${tokens} ${units}`]),
    );
    const folded = sumOf(await foldPastHolders(db, [contractId], point));
    const owners = [...new Set([...rebuilt.keys(), ...folded.keys()])].toSorted();
    const different = owners
      .map((owner) => ({
        owner,
        rebuilt: rebuilt.get(owner) ?? null,
        folded: folded.get(owner) ?? null,
      }))
      .filter((one) => one.rebuilt !== one.folded);
    return { holders: owners.length, different };
  } catch (error) {
    if (error instanceof TooMuchToFold) return null;
    throw error;
  }
}

function sumOf(held: readonly Held[]): Map<string, string> {
  const sums = new Map<string, { ids: bigint; units: bigint }>();
  for (const { owner, ids, units } of held) {
    const sum = sums.get(owner) ?? { ids: 0n, units: 0n };
    sums.set(owner, { ids: sum.ids + ids, units: sum.units + units });
  }
  const kept = [...sums].filter(([owner]) => !burnAddresses.has(owner as Hex));
  return new Map(kept.map(([owner, { ids, units }]) => [owner, `${ids} ${units}`]));
}
