import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Partner } from "#jobs/partners/partner.ts";
import { syncIntervals } from "#jobs/partners/sync-step.ts";
import type { Database } from "#projections/log/database.ts";
import { openSync, openTestPartner } from "../support/orders/partner-sync.ts";
import { type Figure, medianFigure } from "./figure.ts";
import { timed, withDatabase } from "./server.ts";

const maxListings = 100_000;
const contract = `0xa0${"00".repeat(18)}01` as const;

/** One contract's listings, first all stored, then all fetched again unchanged. No rate limit applies. */
export async function run({ facts }: { facts: number }): Promise<Figure[]> {
  const count = Math.min(facts, maxListings);
  const figures: Figure[] = [];
  for (const name of ["opensea", "magiceden"] as const) {
    figures.push(...(await withDatabase((db) => measure(db, name, count))));
  }
  return figures;
}

async function measure(db: Database, name: Partner["name"], count: number): Promise<Figure[]> {
  const path = fileURLToPath(new URL("partner-process.ts", import.meta.url));
  const server = fork(path, [name, contract, `${count}`]);
  try {
    const [{ url }] = (await once(server, "message")) as [{ url: string }];
    const partner = openTestPartner(name, { url });
    const sync = openSync(db, partner);
    await sync.enroll(contract);
    const before = process.memoryUsage.rss();
    const peak = watchMemory();
    const firstMs = await timed(() => sync.run());
    sync.pass(syncIntervals.fullMs);
    const secondMs = await timed(() => sync.run());
    const memoryGrowthMb = (peak() - before) / 2 ** 20;
    await partner.close();
    const size = `${count} listings of one contract at ${name}`;
    const rate = (ms: number) => [count / (ms / 1_000)];
    return [
      medianFigure(`partner-sync, ${name}, taken in`, rate(firstMs), { unit: "facts/s" }, size),
      medianFigure(`partner-sync, ${name}, read again`, rate(secondMs), { unit: "facts/s" }, size),
      medianFigure(
        `partner-sync, ${name}, memory`,
        [memoryGrowthMb],
        { unit: "MB", atMost: 200 },
        size,
      ),
    ];
  } finally {
    server.disconnect();
    await once(server, "exit");
  }
}

/** The largest resident size of this process in bytes, until the function returned is called. */
function watchMemory(): () => number {
  let largest = process.memoryUsage.rss();
  const timer = setInterval(() => {
    largest = Math.max(largest, process.memoryUsage.rss());
  }, 50);
  return () => {
    clearInterval(timer);
    return largest;
  };
}
