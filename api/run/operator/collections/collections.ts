import type { Command } from "commander";
import type { Address } from "viem";
import { isRejection } from "#projections/domain/rejection.ts";
import { entriesInForce, type RegistryEntry, readRegistry } from "#projections/collections/read-registry.ts";
import type { Config } from "#api/run/config/config.ts";
import { type Opened, withDatabase } from "../cli/open-database.ts";
import { print, tableLines } from "../cli/output.ts";
import { type Contract, type Named, parseChain, parseContract, parseContracts, parseName, parseNamed, parseSlug } from "./arguments.ts";
import { type Changed, type EntryChange, findSubject, type Refused, registerCollection, removeCollection, type Subject } from "./change-registry.ts";

type Json = { json?: boolean };
type Naming = Json & { slug?: string; name?: string };

/** `op collections add`, `verify`, `group`, `list` and `remove` */
export function addCollections(program: Command): void {
  const collections = program.command("collections").description("the collection registry");
  const command = (name: string, description: string) =>
    collections
      .command(name)
      .description(description)
      .option("--json", "print JSON")
      .exitOverride();
  command("add", "register the collection of a contract, or change its entry")
    .argument("<contract>", "chain:address", parseContract)
    .option("--slug <slug>", "lower-case words separated by -", parseSlug)
    .option("--name <name>", "display name", parseName)
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
    .option("--name <name>", "display name", parseName)
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

async function verify(named: Named, { off, json }: Json & { off?: boolean }): Promise<void> {
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

async function remove(named: Named, { entirely, json }: Json & { entirely?: boolean }) {
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

async function list({ chain, json }: Json & { chain?: number }): Promise<void> {
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
