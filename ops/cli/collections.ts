import type { Command } from "commander";
import type { Address } from "viem";
import { collectionRegistered } from "#projections/collections/facts.ts";
import { readKnownContracts } from "#projections/collections/find-collection.ts";
import {
  entriesInForce,
  type RegistryEntry,
  readRegistry,
} from "#projections/collections/read-registry.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import { appendObservations } from "#projections/log/append.ts";
import type { Database } from "#projections/log/database.ts";
import type { Config } from "../config/config.ts";
import {
  type Contract,
  type Named,
  parseChain,
  parseCollectionName,
  parseContract,
  parseContracts,
  parseNamed,
  parseSlug,
} from "./arguments.ts";
import { type Opened, withDatabase } from "./open-database.ts";
import { type JsonFlag, print, tableLines } from "./output.ts";

type Naming = JsonFlag & { slug?: string; name?: string };

/** `op collections add`, `verify`, `group`, `list` and `remove` */
export function addCollections(program: Command): void {
  const collections = program.command("collections").description("the collection registry");
  const command = (name: string, description: string) =>
    collections.command(name).description(description).exitOverride();
  command("add", "register the collection of a contract, or change its entry")
    .argument("<contract>", "chain:address", parseContract)
    .option("--slug <slug>", "lower-case words separated by -", parseSlug)
    .option("--name <name>", "display name", parseCollectionName)
    .option("--verified", "mark it as verified")
    .action(add);
  command("verify", "mark a collection as verified")
    .argument("<collection>", "chain:slug or chain:address", parseNamed)
    .option("--off", "remove the mark")
    .action(verify);
  command(
    "group",
    "group several contracts into one collection; contracts not named are removed from it",
  )
    .argument("<primary>", "chain:address of the primary contract", parseContract)
    .argument("<contracts...>", "chain:address of each other contract", parseContracts)
    .option("--slug <slug>", "lower-case words separated by -", parseSlug)
    .option("--name <name>", "display name", parseCollectionName)
    .action(group);
  command("list", "list the registry in effect")
    .option("--chain <id>", "only this chain", parseChain)
    .action(list);
  command("remove", "remove the operators' entry; the curated file applies again")
    .argument("<collection>", "chain:slug or chain:address", parseNamed)
    .option("--entirely", "remove the curated file's entry too")
    .action(remove);
}

async function add(
  { chainId, address }: Contract,
  { slug, name, verified, json }: Naming & { verified?: boolean },
): Promise<void> {
  const entryChange = { ...changeOf({ slug, name }), ...(verified && { verified }) };
  await change("add", json, async ({ db, config }) => {
    adviseIndexing(config, chainId, [address]);
    return await registerCollection(db, { chainId, primary: address }, entryChange);
  });
}

async function verify(named: Named, { off, json }: JsonFlag & { off?: boolean }): Promise<void> {
  await change("verify", json, async ({ db }) => {
    return await withSubject(db, named, (subject) =>
      registerCollection(db, subject, { verified: !off }),
    );
  });
}

async function group(
  { chainId, address }: Contract,
  others: Contract[],
  { slug, name, json }: Naming,
  command: Command,
): Promise<void> {
  if (others.some((one) => one.chainId !== chainId)) {
    command.error("all contracts of a collection must be on one chain", { exitCode: 2 });
  }
  const contracts = [address, ...others.map((one) => one.address)];
  await change("group", json, async ({ db, config }) => {
    adviseIndexing(config, chainId, contracts);
    const entryChange = { ...changeOf({ slug, name }), contracts };
    return await registerCollection(db, { chainId, primary: address }, entryChange);
  });
}

async function remove(named: Named, { entirely, json }: JsonFlag & { entirely?: boolean }) {
  await change("remove", json, async ({ db }) => {
    return await withSubject(db, named, (subject) =>
      removeCollection(db, subject, { entirely: entirely ?? false }),
    );
  });
}

const changeOf = ({
  slug,
  name,
}: { [Key in "slug" | "name"]: string | undefined }): EntryChange => ({
  ...(slug !== undefined && { slug }),
  ...(name !== undefined && { name }),
});

async function withSubject(
  db: Opened["db"],
  { chainId, named }: Named,
  work: (subject: Subject) => Promise<Changed | Refused>,
): Promise<Changed | Refused> {
  const subject = await findSubject(db, chainId, named);
  return isRejection(subject) ? subject : await work(subject);
}

async function change(
  name: string,
  json: boolean | undefined,
  work: (opened: Opened) => Promise<Changed | Refused>,
): Promise<void> {
  await withDatabase(`collections ${name}`, async (opened) => {
    const outcome = await work(opened);
    if (isRejection(outcome)) {
      if (json) print(json, outcome, []);
      process.stderr.write(`${outcome.message}\n`);
      process.exitCode = 1;
      return;
    }
    const { hasChanged, entry } = outcome;
    const outcomeLine = hasChanged ? "recorded" : "no change";
    const lines = entry === null ? ["not registered"] : entryLines([entry]);
    print(json, { hasChanged, entry: entry && shown(entry) }, [outcomeLine, ...lines]);
  });
}

async function list({ chain, json }: JsonFlag & { chain?: number }): Promise<void> {
  await withDatabase("collections list", async ({ db }) => {
    const entries = entriesInForce(await readRegistry(db))
      .filter(({ chainId }) => chain === undefined || chainId === chain)
      .toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
    print(json, { collections: entries.map(shown) }, entryLines(entries));
  });
}

const keyOf = ({ chainId, slug, primary }: RegistryEntry) =>
  `${String(chainId).padStart(10)} ${slug ?? "~"} ${primary}`;

const shown = (entry: RegistryEntry) => {
  const { chainId, primary, slug, name, verified, contracts, source } = entry;
  return { chainId, primary, slug, name, verified, contracts, source };
};

function entryLines(entries: readonly RegistryEntry[]): string[] {
  const head = ["chain", "slug", "primary", "name", "verified", "contracts", "source"];
  const rows = entries.map(({ chainId, slug, primary, name, verified, contracts, source }) => {
    const flags = [verified ? "yes" : "no", `${contracts.length}`, source];
    return [`${chainId}`, slug ?? "-", primary, name ?? "-", ...flags];
  });
  return tableLines([head, ...rows]);
}

/** Warns about contracts whose transfers are not indexed: they have no tokens here. */
function adviseIndexing({ chains, curated }: Config, chainId: number, contracts: Address[]): void {
  const chain = chains.find((one) => one.chainId === chainId);
  if (chain === undefined || chain.collections === "all") return;
  const named = [...chain.collections, ...curated.collections.flatMap((one) => one.contracts)];
  const missing = contracts.filter((contract) => !named.includes(contract));
  if (missing.length === 0) return;
  process.stderr.write(
    `transfers of ${missing.join(", ")} are not indexed: add it to COLLECTIONS_${chainId}\n`,
  );
}

type Subject = { chainId: number; primary: Address };

/** The changed fields of an entry; absent fields keep their value. */
type EntryChange = {
  slug?: string;
  name?: string;
  verified?: boolean;
  contracts?: Address[];
};

type Changed = { hasChanged: boolean; entry: RegistryEntry | null };
type Code = "slug_taken" | "in_a_family" | "standards_differ" | "not_found" | "ambiguous";
type Refused = Rejection<Code>;

/** The collection that a slug or an address names; any of its contracts names it. */
async function findSubject(
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
async function registerCollection(
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
async function removeCollection(
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
