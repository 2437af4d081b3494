import { parseArgs } from "node:util";
import { calibrate, calibrated } from "./calibration.ts";
import type { Figure } from "./figure.ts";

/** `facts`: size of the log that a benchmark generates. `scale` and `directory`: of the generated market. */
type Options = { facts: number; scale: number; directory: string | null };
type Benchmark = { run(options: Options): Promise<Figure[]> };

const FACTS = 1_000_000;

/** Each file is one benchmark, which starts and stops what it needs. */
const benchmarks: Record<string, () => Promise<Benchmark>> = {
  append: () => import("./append.ts"),
  partitions: () => import("./partitions.ts"),
  "analytics-sync": () => import("./analytics-sync.ts"),
  size: () => import("./size.ts"),
  costs: () => import("./costs.ts"),
  rebuild: () => import("./rebuild.ts"),
  "catch-up": () => import("./catch-up.ts"),
  "exchange-mix": () => import("./exchange-mix.ts"),
  block: () => import("./block.ts"),
  "new-contracts": () => import("./new-contracts.ts"),
  reorg: () => import("./reorg.ts"),
  book: () => import("./book.ts"),
  start: () => import("./start.ts"),
  backfill: () => import("./backfill.ts"),
  "added-exchange": () => import("./added-exchange/added-exchange.ts"),
  latency: () => import("./latency.ts"),
  "live-page": () => import("./live-page.ts"),
  feed: () => import("./feed/feed.ts"),
  webhooks: () => import("./webhooks/webhooks.ts"),
  limiter: () => import("./limiter.ts"),
  "order-status": () => import("./order-status.ts"),
  "order-intake": () => import("./order-intake.ts"),
  "token-lists": () => import("./token-lists.ts"),
  "partner-sync": () => import("./partner-sync.ts"),
  "partner-sold": () => import("./partner-sold.ts"),
  market: () => import("./market/market.ts"),
  past: () => import("./past.ts"),
  "past-book": () => import("./past-book.ts"),
  indexes: () => import("./indexes.ts"),
  pages: () => import("./market/pages.ts"),
  readers: () => import("./readers.ts"),
  "request-costs": () => import("./market/request-costs.ts"),
  "market-graphql": () => import("./market/graphql.ts"),
  ponder: () => import("./ponder/ponder.ts"),
  peers: () => import("./peers.ts"),
};

/** `calibrated`: a time as a multiple of the calibration's loop, a rate as a part of its COPY. */
type Told = Figure & { calibrated: number | null };

const columns = [
  "figure",
  "value",
  "unit",
  "calibrated",
  "goal",
  "met",
  "samples",
  "min",
  "max",
] as const;
const print = (line: string) => void process.stdout.write(`${line}\n`);

const usage = () => `npm run bench [-- name …] [-- options]

Runs benchmarks one after the other, all or those named, and prints a table of figures and a JSON line for each.
What each measures: test/bench/README.md. Figures of the reference machine: docs/benchmarks.md.

  --facts <n>     facts of a log that a benchmark generates (${FACTS})
  --scale <n>     size of the generated market (1)
  --data <path>   directory of a generated market, kept for the next run
  --help          this text

Benchmarks: ${Object.keys(benchmarks).join(", ")}`;

/** A missed goal is printed and does not fail the run. */
async function main(args: readonly string[]): Promise<number> {
  const { values, positionals: names } = parseArgs({
    args: [...args],
    options: {
      facts: { type: "string", default: `${FACTS}` },
      scale: { type: "string", default: "1" },
      data: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
    allowPositionals: true,
  });
  if (values.help) {
    print(usage());
    return 0;
  }
  const { facts, scale } = { facts: Number(values.facts), scale: Number(values.scale) };
  const directory = values.data ?? null;
  const unknown = names.filter((name) => benchmarks[name] === undefined);
  if (unknown.length > 0) {
    process.stderr.write(`no benchmark ${unknown}; there are ${Object.keys(benchmarks)}\n`);
    return 2;
  }
  const calibration = await calibrate();
  const tell = (one: Figure): Told => ({ ...one, calibrated: calibrated(one, calibration) });
  for (const line of tableOf(calibration.figures.map(tell))) print(line);
  const figures: Figure[] = [...calibration.figures];
  for (const [name, load] of Object.entries(benchmarks)) {
    if (names.length > 0 && !names.includes(name)) continue;
    const { run } = await load();
    figures.push(...(await run({ facts, scale, directory })));
  }
  const told = figures.map(tell);
  for (const line of tableOf(told)) print(line);
  for (const figure of told) print(JSON.stringify(figure));
  return 0;
}

function tableOf(figures: readonly Told[]): string[] {
  const rows = figures.map((figure) => columns.map((column) => `${figure[column] ?? "-"}`));
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  return [[...columns], ...rows].map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

process.exit(await main(process.argv.slice(2)));
