import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { emptyCoverage } from "../simulation/coverage.ts";
import { simulate } from "../simulation/run.ts";
import { closeStore, openStore } from "../simulation/store.ts";
import { repartition } from "../support/database/partitions.ts";
import { createDatabase } from "../support/database/postgres.ts";

const directory = await mkdtemp(join(tmpdir(), "detached-"));
const databases = [await createDatabase(), await createDatabase()] as const;
for (const { db } of databases) await repartition(db, 40);
const [watched, shuffled] = databases;
const stages = [
  await openStore(watched.url, join(directory, "watched")),
  await openStore(shuffled.url, join(directory, "shuffled")),
] as const;
const coverage = emptyCoverage();

afterAll(async () => {
  await Promise.all(stages.map(closeStore));
  for (const one of databases) await one.drop();
  await rm(directory, { recursive: true });
});

describe("a random history whose partitions are detached and attached", () => {
  it.each(Array.from({ length: 16 }, (_, index) => 101 + index))(
    "leaves one state, and holds what a log without archives does (seed %i)",
    async (seed) => {
      expect((await simulate(seed, stages, coverage)).join("\n")).toBe("");
    },
  );

  it("detached many, in the middle of histories too", () => {
    const { counts } = coverage;
    expect(counts.get("facts detached")).toBeGreaterThan(150);
    expect(counts.get("partitions attached")).toBeGreaterThan(20);
  });
});
