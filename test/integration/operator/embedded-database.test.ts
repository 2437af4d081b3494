import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runOp } from "#test/support/processes/op.ts";

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "op-embedded-"));
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

/** A command starts the embedded server of a service that is stopped. */
const migrate = (replication: "true" | "false") =>
  runOp({ DATA_DIR: dataDir, DATABASE_REPLICATION: replication }, "migrate");

/** Options with which a server was started last, as it wrote them. */
const startOptions = () => readFile(join(dataDir, "postgres/postmaster.opts"), "utf8");

it("an embedded server that a command starts writes what its standbys need", async () => {
  expect(await migrate("true")).toMatchObject({ code: 0 });
  expect(await startOptions()).toContain('"wal_level=replica" "-c" "max_wal_senders=10"');

  expect(await migrate("false")).toMatchObject({ code: 0 });
  expect(await startOptions()).toContain("wal_level=minimal");
});
