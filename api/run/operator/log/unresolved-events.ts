import { type Command, InvalidArgumentError, Option } from "commander";
import { type UnresolvedReason, unresolvedReasons } from "#projections/exchanges/model/exchange.ts";
import { readUnresolvedEvents, readUnresolvedTotals, type UnresolvedEventRow, type UnresolvedTotal } from "#projections/sales/read-unresolved-events.ts";
import type { Config } from "#api/run/config/config.ts";
import { linksOf } from "#api/run/inspection/explorers.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print, tableLines } from "../cli/output.ts";

type Options = {
  chain?: string;
  protocol?: string;
  reason?: UnresolvedReason;
  limit: number;
  json?: boolean;
};

/** `op sources unresolved` */
export function addUnresolvedEvents(sources: Command): void {
  sources
    .command("unresolved")
    .description("events that announce a trade and make no sale, newest first, and why")
    .option("--chain <id>", "of this chain")
    .option("--protocol <name>", "of this exchange")
    .addOption(new Option("--reason <reason>", "for this").choices(Object.keys(unresolvedReasons)))
    .option("--limit <n>", "most that are listed", parseLimit, 100)
    .option("--json", "print JSON")
    .exitOverride()
    .action(list);
}

function parseLimit(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError("expected a number from 1");
  return Number(text);
}

async function list({ chain, protocol, reason, limit, json }: Options): Promise<void> {
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
