import { type Command, InvalidArgumentError, Option } from "commander";
import { type Address, isAddress } from "viem";
import { type UnresolvedReason, unresolvedReasons } from "#projections/exchanges/model/exchange.ts";
import type { Database } from "#projections/log/database.ts";
import {
  addSources,
  coreIndexer,
  readSources,
  removeSource,
  restoreSource,
} from "#projections/log/sources.ts";
import {
  readUnresolvedEvents,
  readUnresolvedTotals,
  type UnresolvedEventRow,
  type UnresolvedTotal,
} from "#projections/sales/read-unresolved-events.ts";
import type { ChainConfig, Config } from "../config/config.ts";
import { coreProtocol } from "../ponder/indexed-sources.ts";
import { collectionSource, exchangeSources, metadataSources } from "../ponder/indexers.ts";
import { linksOf } from "../reports/explain-row.ts";
import { type ChainSources, readChainSources } from "../reports/read-status.ts";
import { chosenChain, parseBlock } from "./arguments.ts";
import { withDatabase } from "./open-database.ts";
import { type JsonFlag, print, tableLines } from "./output.ts";

type SourceFlags = { chain: string; json?: boolean };

/** `op sources`, `op sources add` and `op sources remove` */
export function addSourceCommands(program: Command): void {
  const sources = program
    .command("sources")
    .description("exchanges and collections that are indexed, and how far")
    .option("--json", "print JSON")
    .enablePositionalOptions()
    .action(listSources);
  addUnresolvedEvents(sources);
  sources
    .command("add")
    .description(
      "index an exchange or a collection's transfers; its history is fetched, and no other",
    )
    .argument("<source>", "the exchange's protocol, or the collection's address", parseSource)
    .requiredOption("--chain <id>", "chain id")
    .option("--from <block>", "first block of a collection", parseBlock)
    .action(add);
  sources
    .command("remove")
    .description("stop indexing an exchange or a collection; its facts stay")
    .argument("<source>", "the exchange's protocol, or the collection's address", parseSource)
    .requiredOption("--chain <id>", "chain id")
    .action(remove);
}

const parseSource = (text: string): string => text.toLowerCase();

async function listSources({ json }: JsonFlag): Promise<void> {
  await withDatabase("sources", async ({ db, config }) => {
    const chains = await Promise.all(config.chains.map((chain) => readChainSources(db, chain)));
    print(json, { chains }, chains.flatMap(chainLines));
  });
}

type Chain = ChainSources;

function chainLines({ chainId, head, sources }: Chain): string[] {
  const rows = sources.map((one) => [
    ...[`${chainId}`, one.source, one.indexer, one.state.replace("_", " ")],
    ...[`${one.indexed ?? "-"}`, `${head ?? "unknown"}`, remainingText(one)],
  ]);
  const columns = ["chain", "source", "indexer", "state", "indexed", "head", "remaining"];
  return [...tableLines([columns, ...rows]), ""];
}

function remainingText({ remainingBlocks, remainingSeconds }: Chain["sources"][number]): string {
  if (remainingBlocks === null) return "-";
  const time = remainingSeconds === null ? "" : `, about ${durationText(remainingSeconds)}`;
  return `${remainingBlocks} blocks${time}`;
}

function durationText(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}

async function add(source: string, options: SourceFlags & { from?: number }): Promise<void> {
  await withDatabase("sources add", async ({ db, config }) => {
    const chain = chosenChain(config, options.chain);
    const { chainId } = chain;
    const known = (await readSources(db, chainId)).find((one) => one.source === source);
    const isAdded = known === undefined || known.removedBy !== null;
    if (known === undefined) await addNew(db, chain, source, options.from ?? null);
    else await restoreSource(db, chainId, source);
    print(options.json, { chainId, source, isAdded }, [
      isAdded
        ? `chain ${chainId}: ${source} is indexed from now on; op sources shows how far`
        : `chain ${chainId}: ${source} is indexed already`,
    ]);
  });
}

async function addNew(
  db: Database,
  chain: ChainConfig,
  source: string,
  firstBlock: number | null,
): Promise<void> {
  const { chainId } = chain;
  const known = await readSources(db, chainId);
  const exchanges = [...exchangeSources(chain), ...metadataSources(chain, known)];
  const isCollection = isAddress(source, { strict: false });
  if (isCollection && chain.collections === "all") {
    throw new Error(`chain ${chainId}: transfers of all collections are indexed`);
  }
  const added = isCollection
    ? collectionSource({ address: source as Address, firstBlock })
    : exchanges.find((one) => one.source === source);
  if (added === undefined) {
    const names = exchanges.map((one) => one.source).join(", ") || "none";
    throw new Error(
      `expected a collection's address or an exchange of chain ${chainId} (${names}), got ${source}`,
    );
  }
  await addSources(db, chainId, [{ ...added, indexer: source, addedBy: "operator" }]);
}

async function remove(source: string, { chain: named, json }: SourceFlags): Promise<void> {
  await withDatabase("sources remove", async ({ db, config }) => {
    const { chainId } = chosenChain(config, named);
    if (source === coreProtocol)
      throw new Error(`${source} cannot be removed: orders are made for it`);
    const known = await readSources(db, chainId);
    const found = known.find((one) => one.source === source);
    if (found === undefined || found.removedBy !== null) {
      throw new Error(`chain ${chainId}: ${source} is not indexed; op sources lists what is`);
    }
    await removeSource(db, chainId, source, "operator");
    const others = known.filter((one) => one.indexer === found.indexer && one.removedBy === null);
    const isShared = others.length > 1 || found.indexer === coreIndexer;
    print(json, { chainId, source, isRemoved: true }, [
      `chain ${chainId}: ${source} is not indexed any more; its facts stay`,
      ...(isShared
        ? [
            `its indexer, ${found.indexer}, has other sources and still fetches its events until ` +
              `op reindex --chain ${chainId} --indexer ${found.indexer}`,
          ]
        : []),
    ]);
  });
}

type UnresolvedFlags = {
  chain?: string;
  protocol?: string;
  reason?: UnresolvedReason;
  limit: number;
  json?: boolean;
};

/** `op sources unresolved` */
function addUnresolvedEvents(sources: Command): void {
  sources
    .command("unresolved")
    .description("events that announce a trade and make no sale, newest first, and why")
    .option("--chain <id>", "of this chain")
    .option("--protocol <name>", "of this exchange")
    .addOption(new Option("--reason <reason>", "for this").choices(Object.keys(unresolvedReasons)))
    .option("--limit <n>", "most that are listed", parseLimit, 100)
    .action(listUnresolved);
}

function parseLimit(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError("expected a number from 1");
  return Number(text);
}

async function listUnresolved({
  chain,
  protocol,
  reason,
  limit,
  json,
}: UnresolvedFlags): Promise<void> {
  await withDatabase("sources unresolved", async ({ db, config }) => {
    const filter = {
      chainId: chain === undefined ? null : Number(chain),
      protocol: protocol ?? null,
      reason: reason ?? null,
    };
    const [totals, found] = await Promise.all([
      readUnresolvedTotals(db, filter),
      readUnresolvedEvents(db, filter, limit),
    ]);
    const events = found.map((event) => present(config, event));
    const total = totals.reduce((sum, one) => sum + Number(one.events), 0);
    const omitted = total - events.length;
    print(json, { total, totals: totals.map(presentTotal), events }, [
      ...totals.map(
        (one) => `chain ${one.chainId} ${one.protocol} ${one.reason}: ${one.events} events`,
      ),
      ...(events.length === 0 ? ["no unresolved events"] : linesOf(events)),
      ...(omitted > 0 ? [`… and ${omitted} more`] : []),
    ]);
  });
}

function presentTotal({ events, ...one }: UnresolvedTotal) {
  return { ...one, events: Number(events) };
}

function present(config: Config, event: UnresolvedEventRow) {
  const { chainId, transactionHash, blockNumber: block } = event;
  const links = linksOf(config, { chainId, block, transaction: transactionHash });
  return {
    ...event,
    blockNumber: Number(block),
    timestamp: event.timestamp.toISOString(),
    why: unresolvedReasons[event.reason],
    link: links?.transaction ?? null,
  };
}

function linesOf(events: readonly ReturnType<typeof present>[]): string[] {
  const columns = ["chain", "block", "time", "transaction", "log", "protocol", "reason", "why"];
  const rows = events.map((one) => [
    ...[`${one.chainId}`, `${one.blockNumber}`, one.timestamp, one.link ?? one.transactionHash],
    ...[`${one.logIndex}`, one.protocol, one.reason, one.why],
  ]);
  return tableLines([columns, ...rows]);
}
