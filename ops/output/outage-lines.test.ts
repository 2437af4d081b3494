import pg from "pg";
import { pino } from "pino";
import { expect, it } from "vitest";
import { DatabaseUnavailable } from "#projections/log/database-failure.ts";
import { openOutageLines } from "./logger.ts";

function openLog() {
  const lines: Record<string, unknown>[] = [];
  let now = 0;
  const logger = pino(
    { base: null, timestamp: false, hooks: { logMethod: openOutageLines(() => now) } },
    { write: (line) => void lines.push(JSON.parse(line)) },
  );
  const pass = (ms: number) => {
    now += ms;
  };
  return { lines, logger, pass };
}

const ended = () =>
  Object.assign(
    new pg.DatabaseError("terminating connection due to idle-in-transaction timeout", 0, "error"),
    {
      code: "25P03",
    },
  );

it("tells one cause of many failures in one line, with its reason and without a stack", () => {
  const { lines, logger } = openLog();
  for (const job of ["rarity", "metadata", "royalties"]) {
    logger.error({ job, err: new DatabaseUnavailable(ended()) }, "job failed");
  }
  logger.warn({ err: new Error("Client has encountered a connection error") }, "connection lost");
  expect(lines).toEqual([
    {
      level: 50,
      job: "rarity",
      reason: "terminating connection due to idle-in-transaction timeout",
      msg: "job failed",
    },
  ]);
});

it("goes on to tell an outage that lasts, ever more seldom, with what it left out", () => {
  const { lines, logger, pass } = openLog();
  for (let second = 0; second < 100; second += 1) {
    logger.warn({ err: new DatabaseUnavailable(new Error("refused")) }, "reading failed");
    pass(1_000);
  }
  expect(lines.map(({ failures }) => failures)).toEqual([undefined, 9, 19, 39]);
});

it("tells the next outage at once", () => {
  const { lines, logger, pass } = openLog();
  logger.warn({ err: new DatabaseUnavailable(new Error("refused")) }, "reading failed");
  pass(31_000);
  logger.warn({ err: new DatabaseUnavailable(new Error("starting")) }, "reading failed");
  expect(lines.map(({ reason }) => reason)).toEqual(["refused", "starting"]);
});

it("leaves every other line as it is", () => {
  const { lines, logger } = openLog();
  const refused = Object.assign(new Error("connect ECONNREFUSED"), { syscall: "connect" });
  for (const err of [new Error("wrong"), new Error("wrong"), refused]) {
    logger.error({ err }, "failed");
  }
  logger.info("words");
  expect(lines.map(({ msg, err }) => [msg, err !== undefined])).toEqual([
    ["failed", true],
    ["failed", true],
    ["failed", true],
    ["words", false],
  ]);
});
