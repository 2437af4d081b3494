import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeLatencies } from "../soak/honest-caller.ts";
import { soak } from "../soak/run.ts";

const minutes = 1;
const atLeast = 6;
const seed = 1;

it("every law holds after kills, faulty nodes and partners, and reorgs, beside hostile contracts", {
  timeout: 2_400_000,
}, async () => {
  const directory = await mkdtemp(join(tmpdir(), "soak-"));
  const lines: string[] = [];
  const report = (line: string) => void lines.push(line);
  const done = await soak({ directory, minutes, atLeast, seed, report });
  process.stdout.write(`${lines.join("\n")}\n`);
  expect(done.brokenLaws).toEqual([]);
  expect(done.beside.faults).toEqual([]);
  expect(done.disturbances).toBeGreaterThanOrEqual(atLeast);
  expect(done.beside.ms.length, describeLatencies(done.beside)).toBeGreaterThan(0);
  await rm(directory, { recursive: true, force: true });
});
