import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { chainIds } from "#chains/index.ts";
import { type OrphanGuard, startOrphanGuard } from "#ops/processes/child.ts";
import { readSnapshot, type Snapshot } from "../support/http/market-snapshot.ts";
import { wrongFigures } from "../support/market-data/expected-figures.ts";
import { type StartedService, startService } from "../support/processes/start-service.ts";

/** `WATCH_SECONDS=300` watches the five minutes that a newcomer may look at; each second is the same work. */
const seconds = Number(process.env.WATCH_SECONDS ?? 60);

let directory: string;
let orphanGuard: OrphanGuard;
let service: StartedService;

beforeAll(async () => {
  orphanGuard = startOrphanGuard();
  directory = await mkdtemp(join(tmpdir(), "first-minutes-"));
  service = await startService({ dataDir: directory, orphanGuard });
});
afterAll(async () => {
  await service?.end();
  orphanGuard.killAll();
  await rm(directory, { recursive: true, force: true });
});

/** Looks once a second, or as soon as the last look is over. Those that the market outran are not compared. */
async function watch(chainId: number, from: number) {
  const wrong: string[] = [];
  let compared = 0;
  let rows = { collections: 0, sales: 0, listings: 0 };
  for (let second = 0; second < seconds; second += 1) {
    await pause(Math.max(0, from + second * 1_000 - performance.now()));
    const snapshot: Snapshot | null = await readSnapshot(service.baseUrl, chainId);
    if (snapshot === null) continue;
    compared += 1;
    const { collections, sales, listings } = snapshot;
    rows = {
      collections: collections.get("24h")?.length ?? 0,
      sales: sales.length,
      listings: listings.length,
    };
    wrong.push(...wrongFigures(snapshot).map((one) => `second ${second}: ${one}`));
  }
  return { wrong, compared, rows };
}

it("from `ready` on no figure of a collection differs from its sales and listings at any second", async () => {
  const from = performance.now();
  const looks = await Promise.all(chainIds.map((chainId) => watch(chainId, from)));
  for (const [index, { wrong, compared, rows }] of looks.entries()) {
    process.stdout.write(
      `chain ${chainIds[index]}: ${compared} of ${seconds} seconds compared, at last of ${JSON.stringify(rows)}\n`,
    );
    for (const count of Object.values(rows)) expect(count).toBeGreaterThan(3);
    expect(wrong).toEqual([]);
    expect(compared).toBeGreaterThan(seconds / 3);
  }
});
