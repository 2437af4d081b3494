import type { Figure } from "./figure.ts";

type Benchmark = { run(): Promise<Figure[]> };

/** Each file is one benchmark; it starts what it needs and ends it. */
const benchmarks: Record<string, () => Promise<Benchmark>> = {
  latency: () => import("./latency.ts"),
};

const columns = ["figure", "value", "unit", "goal", "met", "samples", "min", "max"] as const;
const print = (line: string) => void process.stdout.write(`${line}\n`);

/** A goal that is missed is told, and is no failure of the run. */
async function main(asked: readonly string[]): Promise<number> {
  const unknown = asked.filter((name) => benchmarks[name] === undefined);
  if (unknown.length > 0) {
    process.stderr.write(`no benchmark ${unknown}; there are ${Object.keys(benchmarks)}\n`);
    return 2;
  }
  const figures: Figure[] = [];
  for (const [name, load] of Object.entries(benchmarks)) {
    if (asked.length > 0 && !asked.includes(name)) continue;
    const { run } = await load();
    figures.push(...(await run()));
  }
  for (const line of tableOf(figures)) print(line);
  for (const figure of figures) print(JSON.stringify(figure));
  return 0;
}

function tableOf(figures: readonly Figure[]): string[] {
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
