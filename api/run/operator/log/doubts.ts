import { type Command, InvalidArgumentError, Option } from "commander";
import { type DoubtReason, doubtReasons } from "../../../../projections/exchanges/model/doubt.ts";
import {
  type DoubtedEvent,
  type DoubtTotal,
  readDoubts,
  readDoubtTotals,
} from "../../../../projections/reads/sales/read-doubts.ts";
import type { Config } from "../../config/config.ts";
import { linksOf } from "../../inspection/explorers.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print, tableLines } from "../cli/output.ts";

type Options = {
  chain?: string;
  protocol?: string;
  reason?: DoubtReason;
  limit: number;
  json?: boolean;
};

/** `op sources doubts` */
export function addDoubts(sources: Command): void {
  sources
    .command("doubts")
    .description("events that announce a trade and make no sale, newest first, and why")
    .option("--chain <id>", "of this chain")
    .option("--protocol <name>", "of this exchange")
    .addOption(new Option("--reason <reason>", "for this").choices(Object.keys(doubtReasons)))
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
  await withDatabase("sources doubts", async ({ db, config }) => {
    const filter = {
      chainId: chain === undefined ? null : Number(chain),
      protocol: protocol ?? null,
      reason: reason ?? null,
    };
    const [totals, events] = await Promise.all([
      readDoubtTotals(db, filter),
      readDoubts(db, filter, limit),
    ]);
    const doubts = events.map((event) => present(config, event));
    const total = totals.reduce((sum, one) => sum + Number(one.doubts), 0);
    const omitted = total - doubts.length;
    print(json, { total, totals: totals.map(presentTotal), doubts }, [
      ...totals.map(
        (one) => `chain ${one.chainId} ${one.protocol} ${one.reason}: ${one.doubts} events`,
      ),
      ...(doubts.length === 0 ? ["no doubted events"] : linesOf(doubts)),
      ...(omitted > 0 ? [`… and ${omitted} more`] : []),
    ]);
  });
}

function presentTotal({ doubts, ...one }: DoubtTotal) {
  return { ...one, events: Number(doubts) };
}

function present(config: Config, event: DoubtedEvent) {
  const { chainId, transactionHash, blockNumber: block } = event;
  const links = linksOf(config, { chainId, block, transaction: transactionHash });
  return {
    ...event,
    blockNumber: Number(block),
    timestamp: event.timestamp.toISOString(),
    why: doubtReasons[event.reason],
    link: links?.transaction ?? null,
  };
}

function linesOf(doubts: readonly ReturnType<typeof present>[]): string[] {
  const columns = ["chain", "block", "time", "transaction", "log", "protocol", "reason", "why"];
  const rows = doubts.map((one) => [
    ...[`${one.chainId}`, `${one.blockNumber}`, one.timestamp, one.link ?? one.transactionHash],
    ...[`${one.logIndex}`, one.protocol, one.reason, one.why],
  ]);
  return tableLines([columns, ...rows]);
}
