import { sql } from "kysely";
import { type Hex, keccak256, stringToBytes } from "viem";
import type { ChainId } from "#chains/index.ts";
import { type Claim, claimTree, proofNodes } from "#projections/domain/claim-tree.ts";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import type { Database, Session } from "#projections/log/database.ts";
import { bytea } from "#projections/log/sql-values.ts";

/** What a snapshot was asked to hold, in one form whoever asks. */
export type SnapshotTerms = {
  readonly name: string;
  readonly chainId: ChainId;
  readonly block: bigint;
  /** By address. `tokenIds`, ascending; null: all of the contract. */
  readonly contracts: readonly {
    readonly contract: Hex;
    readonly tokenIds: readonly string[] | null;
  }[];
  readonly minUnits: bigint;
  /** Ascending. */
  readonly excluded: readonly Hex[];
};

export type StoredSnapshot = SnapshotTerms & {
  readonly snapshotId: Hex;
  readonly hash: Hex | null;
  readonly time: Date | null;
  readonly root: Hex;
  readonly holders: number;
  readonly units: bigint;
  readonly createdAt: Date;
};

/** What the same terms have for ever: a final block's number stands for its hash. */
export function snapshotIdOf(terms: SnapshotTerms): Hex {
  const { name, chainId, block, contracts, minUnits, excluded } = terms;
  const parts = contracts.map(({ contract, tokenIds }) => [contract, tokenIds]);
  const text = JSON.stringify([1, chainId, `${block}`, parts, `${minUnits}`, excluded, name]);
  return keccak256(stringToBytes(text));
}

type SnapshotRow = Omit<StoredSnapshot, keyof SnapshotTerms> &
  Pick<SnapshotTerms, "name" | "chainId" | "block" | "minUnits"> & {
    terms: Pick<SnapshotTerms, "contracts" | "excluded">;
  };

export async function readStoredSnapshot(
  db: Session,
  snapshotId: Hex,
): Promise<StoredSnapshot | null> {
  const { rows } = await sql<SnapshotRow>`
    select snapshot_id as "snapshotId", name, chain_id as "chainId", block_number as block, block_hash as hash,
           block_at as time, min_units as "minUnits", terms, root, holders, units, created_at as "createdAt"
    from ops.holder_snapshot where snapshot_id = ${bytea(snapshotId)}`.execute(db);
  const [row] = rows;
  if (row === undefined) return null;
  const { terms, ...snapshot } = row;
  return { ...snapshot, ...terms };
}

export type SnapshotHolder = { readonly rank: number } & Claim;

/** Most units first, from 1 on. */
export async function readStoredHolders(
  db: Database,
  snapshotId: Hex,
  { limit, after }: { limit: number; after: number | null },
): Promise<SnapshotHolder[]> {
  const { rows } = await sql<SnapshotHolder>`
    select h.rank, h.owner, h.units from ops.holder_snapshot s join ops.snapshot_holder h using (number)
    where s.snapshot_id = ${bytea(snapshotId)} and h.rank > ${after ?? 0}
    order by h.rank limit ${limit}`.execute(db);
  return rows;
}

type SnapshotProof = Claim & { readonly proof: readonly Hex[] };

/** Null: the wallet is none of the snapshot's holders. */
export async function readProof(
  db: Database,
  snapshotId: Hex,
  wallet: Hex,
): Promise<SnapshotProof | null> {
  const { rows } = await sql<Claim & { number: number; leaf: number }>`
    select s.number, h.owner, h.units, h.leaf from ops.holder_snapshot s join ops.snapshot_holder h using (number)
    where s.snapshot_id = ${bytea(snapshotId)} and h.owner = ${bytea(wallet)}`.execute(db);
  const [held] = rows;
  if (held === undefined) return null;
  const { number, leaf, ...claim } = held;
  const { rows: nodes } = await sql<{ hash: Hex }>`
    select substring(s.tree from node * 32 + 1 for 32) as hash
    from ops.holder_snapshot s, unnest(${proofNodes(leaf)}::int[]) with ordinality n (node, place)
    where s.number = ${number} order by place`.execute(db);
  return { ...claim, proof: nodes.map(({ hash }) => hash) };
}

/** Of an account: so many rows of holders may be stored at once, and so many a day on average. */
const rowsPerDay = 1_000_000;
const rowsPerSecond = rowsPerDay / 86_400;
/** What a snapshot costs at least. */
const leastRows = 1_000;

class OverBudget extends Error {
  readonly seconds: number;
  constructor(seconds: number) {
    super("the account's snapshots of today are used up");
    this.seconds = seconds;
  }
}

type NewSnapshot = {
  readonly terms: SnapshotTerms;
  readonly hash: Hex | null;
  readonly time: Date | null;
  /** Most units first. */
  readonly claims: readonly Claim[];
  readonly accountId: number;
};

/** Stores a snapshot for good. False: it was stored meanwhile, and is the same. */
export async function storeSnapshot(
  writer: Database,
  made: NewSnapshot,
): Promise<boolean | Rejection<"rate_limited">> {
  const tree = await claimTree(made.claims);
  try {
    return await writer.transaction().execute(async (session) => {
      await chargeAccount(session, made.terms.chainId, made.accountId, made.claims.length);
      return await insertSnapshot(session, made, tree);
    });
  } catch (error) {
    if (!(error instanceof OverBudget)) throw error;
    const message = `An account may store ${rowsPerDay} rows of holders a day, ${leastRows} at least for each snapshot`;
    return { ...reject("rate_limited", message), retryAfterSeconds: error.seconds };
  }
}

/** Throws `OverBudget`. */
async function chargeAccount(
  session: Session,
  chainId: ChainId,
  accountId: number,
  holders: number,
): Promise<void> {
  const amount = Math.max(holders, leastRows);
  const key = bytea(keccak256(stringToBytes(`account ${accountId}`)));
  const { rows } = await sql<{ spent: number }>`
    insert into ops.order_budget as b (chain_id, subject, address, spent, spent_at, per_second)
    values (${chainId}, 'snapshots', ${key}, ${amount}, now(), ${rowsPerSecond})
    on conflict (chain_id, subject, address) do update
      set spent = excluded.spent + greatest(0, b.spent
            - b.per_second * greatest(0, extract(epoch from excluded.spent_at - b.spent_at))),
          spent_at = greatest(b.spent_at, excluded.spent_at), per_second = excluded.per_second
    returning spent`.execute(session);
  const over = (rows[0]?.spent ?? 0) - rowsPerDay;
  if (over > 0) throw new OverBudget(Math.ceil(over / rowsPerSecond));
}

async function insertSnapshot(
  session: Session,
  { terms, hash, time, claims }: NewSnapshot,
  { nodes, leaves }: Awaited<ReturnType<typeof claimTree>>,
): Promise<boolean> {
  const { name, chainId, block, minUnits, contracts, excluded } = terms;
  const { rows } = await sql<{ number: number }>`
    insert into ops.holder_snapshot
      (snapshot_id, name, chain_id, block_number, block_hash, block_at, min_units, terms, root, holders, units, tree)
    values (${bytea(snapshotIdOf(terms))}, ${name}, ${chainId}, ${block}, ${hash === null ? null : bytea(hash)}, ${time},
            ${`${minUnits}`}::numeric, ${JSON.stringify({ contracts, excluded })}::jsonb, ${nodes.subarray(0, 32)}, ${claims.length},
            ${`${claims.reduce((sum, { units }) => sum + units, 0n)}`}::numeric, ${nodes})
    on conflict (snapshot_id) do nothing returning number`.execute(session);
  const [made] = rows;
  if (made === undefined) return false;
  await sql`
    insert into ops.snapshot_holder (number, rank, owner, units, leaf)
    select ${made.number}, rank, decode(owner, 'hex'), units, leaf
    from unnest(${claims.map(({ owner }) => owner.slice(2))}::text[], ${claims.map(({ units }) => `${units}`)}::numeric[],
                ${leaves}::int[]) with ordinality h (owner, units, leaf, rank)`.execute(session);
  return true;
}
