import type { Address } from "viem";
import type { Database } from "#projections/log/database.ts";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import { collectionRegistered } from "#projections/collections/facts.ts";
import { appendObservations } from "#projections/log/append.ts";
import { readKnownContracts } from "#projections/collections/find-collection.ts";
import { entriesInForce, type RegistryEntry, readRegistry } from "#projections/collections/read-registry.ts";

export type Subject = { chainId: number; primary: Address };

/** The changed fields of an entry; absent fields keep their value. */
export type EntryChange = {
  slug?: string;
  name?: string;
  verified?: boolean;
  contracts?: Address[];
};

export type Changed = { hasChanged: boolean; entry: RegistryEntry | null };
type Code = "slug_taken" | "in_a_family" | "standards_differ" | "not_found" | "ambiguous";
export type Refused = Rejection<Code>;

/** The collection that a slug or an address names; any of its contracts names it. */
export async function findSubject(
  db: Database,
  chainId: number,
  named: string,
): Promise<Subject | Refused> {
  const standing = entriesInForce(await readRegistry(db)).filter((one) => one.chainId === chainId);
  if (/^0x[0-9a-f]{40}$/.test(named)) {
    const address = named as Address;
    const owner = standing.find(({ primary, contracts }) => {
      return primary === address || contracts.includes(address);
    });
    return { chainId, primary: owner?.primary ?? address };
  }
  const [found, another] = standing.filter(({ slug }) => slug === named);
  if (found === undefined) return reject("not_found", `no collection ${named} on chain ${chainId}`);
  if (another === undefined) return { chainId, primary: found.primary };
  return reject(
    "ambiguous",
    `several collections have the slug ${named}: use the address, ${found.primary} or another`,
  );
}

/** Registers a collection or changes its entry. Appends no fact when nothing changes. */
export async function registerCollection(
  db: Database,
  { chainId, primary }: Subject,
  change: EntryChange,
): Promise<Changed | Refused> {
  const entries = await readRegistry(db);
  const latest = entryOf(entries, { chainId, primary });
  const isRegistered = latest !== undefined && latest.contracts.length > 0;
  const before = isRegistered ? latest : undefined;
  const contracts = [
    ...new Set([primary, ...(change.contracts ?? before?.contracts ?? [])]),
  ].sort() as Address[];
  const payload = {
    contracts,
    name: change.name ?? before?.name ?? null,
    primary,
    ...(before?.payload.royalty !== undefined && { royalty: before.payload.royalty }),
    slug: change.slug ?? before?.slug ?? null,
    source: "operator",
    verified: change.verified ?? before?.verified ?? false,
  };
  const refused =
    conflictOf(entries, { chainId, ...payload }) ??
    (await differingStandards(db, chainId, contracts));
  if (refused !== undefined) return refused;
  if (before !== undefined && isUnchanged(before, payload))
    return { hasChanged: false, entry: before };
  return await append(db, { chainId, primary }, payload, latest);
}

/**
 * Removes the operators' entry of a collection: the curated file's applies again, if it has one. `entirely`: removes
 * that one too, until it changes in the file.
 */
export async function removeCollection(
  db: Database,
  subject: Subject,
  { entirely }: { entirely: boolean },
): Promise<Changed | Refused> {
  const entries = await readRegistry(db);
  const latest = entryOf(entries, subject);
  if (latest === undefined || latest.contracts.length === 0) {
    return { hasChanged: false, entry: null };
  }
  const { curated, source } = latest;
  if (entirely || curated === null) {
    const payload = { contracts: [], primary: subject.primary, removed: true, source: "operator" };
    return await append(db, subject, payload, latest);
  }
  if (source === "curated") return { hasChanged: false, entry: latest };
  const restored = { chainId: subject.chainId, ...(curated as ReturnType<typeof termsOf>) };
  return conflictOf(entries, restored) ?? (await append(db, subject, curated, latest));
}

const termsOf = ({ primary, slug, contracts }: RegistryEntry) => ({ primary, slug, contracts });

type ClaimedEntry = { chainId: number } & ReturnType<typeof termsOf>;

function entryOf(entries: readonly RegistryEntry[], { chainId, primary }: Subject) {
  return entries.find((one) => one.chainId === chainId && one.primary === primary);
}

/** Rejects another collection's slug or contract. A collection of one contract may be merged into another. */
function conflictOf(entries: readonly RegistryEntry[], claimed: ClaimedEntry): Refused | undefined {
  const { chainId, primary, slug, contracts } = claimed;
  const others = entriesInForce(entries).filter(
    (one) => one.chainId === chainId && one.primary !== primary,
  );
  for (const other of others) {
    const shared = other.contracts.find((contract) => contracts.includes(contract));
    const canBeMerged = other.contracts.length === 1 && shared === other.primary;
    if (shared !== undefined && !canBeMerged) {
      return reject(
        "in_a_family",
        `${shared} belongs to the collection of ${other.primary}: remove that one first`,
      );
    }
    if (slug !== null && other.slug === slug && !canBeMerged) {
      return reject("slug_taken", `${slug} is the slug of ${other.primary}`);
    }
  }
  return undefined;
}

async function differingStandards(
  db: Database,
  chainId: number,
  contracts: readonly Address[],
): Promise<Refused | undefined> {
  const known = await readKnownContracts(db, chainId, contracts);
  const standards = new Set([...known.values()].filter((standard) => standard !== null));
  if (standards.size < 2) return undefined;
  const named = [...known].map(([contract, standard]) => `${contract} is ${standard ?? "unknown"}`);
  return reject(
    "standards_differ",
    `all contracts of a collection must have one standard: ${named.join(", ")}`,
  );
}

function isUnchanged(before: RegistryEntry, payload: object): boolean {
  const { slug, name, verified, contracts, primary } = before;
  const stored = { slug, name, verified, contracts, primary };
  const wanted = { ...payload } as typeof stored;
  return (Object.keys(stored) as (keyof typeof stored)[]).every(
    (key) => JSON.stringify(stored[key]) === JSON.stringify(wanted[key]),
  );
}

async function append(
  db: Database,
  { chainId, primary }: Subject,
  payload: object,
  latest: RegistryEntry | undefined,
): Promise<Changed> {
  const recordedAt = new Date();
  const replaces = latest?.position ?? 0n;
  const fact = collectionRegistered({ chainId, primary, payload, replaces, recordedAt });
  const { appended } = await appendObservations(db, [fact]);
  const entry = entryOf(await readRegistry(db), { chainId, primary });
  return { hasChanged: Number(appended) > 0, entry: entry?.contracts.length ? entry : null };
}
