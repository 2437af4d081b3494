import { describe, expect, it } from "vitest";
import type { Database } from "#projections/log/database.ts";
import type { Document } from "../answer.ts";
import type { PositionedReads } from "./positioned-reads.ts";
import { openResponseCache } from "./response-cache.ts";

/** Responses over a data version and a clock that the test sets; each contains how many were made before. */
function openStage() {
  const stage = { standing: "a", position: 1n, seconds: 10, made: 0, reads: 0 };
  const answers = openResponseCache({
    now: () => new Date(stage.seconds * 1_000),
    maxBytes: 3_000,
  });
  const current = () => ({ version: stage.standing, position: stage.position });
  const reads = {
    async inSnapshot({ onBegin }, read) {
      await nextTurn();
      onBegin?.();
      const snapshot = { ...current(), db: {} as Database };
      await nextTurn();
      const { version, position } = snapshot;
      return read({
        ...snapshot,
        facts: { owner: stage, version, atLeast: 0n, position, answered: position },
      });
    },
    async readVersion() {
      stage.reads += 1;
      return current();
    },
  } as PositionedReads;
  const source = (request: string, atLeast = 0n) =>
    ({ request, reads, loadClass: "data", atLeast }) as const;
  const make = async () => {
    stage.made += 1;
    return document(String(stage.made));
  };
  const ask = async (request = "/", maker: (now: Date) => Promise<Document> = make) =>
    String((await answers.get(source(request), maker)).body);
  const askAtLeast = async (position: bigint) =>
    String((await answers.get(source("/", position), make)).body);
  return { stage, answers, source, ask, askAtLeast };
}

function document(text: string): Document {
  return { type: "text/plain", body: Buffer.from(text), etag: text, cacheControl: "no-cache" };
}

describe("cached responses", () => {
  it("stand until the standing or the second changes", async () => {
    const { stage, ask } = openStage();
    expect([await ask(), await ask()]).toEqual(["1", "1"]);
    stage.standing = "b";
    expect([await ask(), await ask()]).toEqual(["2", "2"]);
    stage.seconds += 0.9;
    expect(await ask()).toBe("2");
    stage.seconds += 0.1;
    expect([await ask(), await ask("/other")]).toEqual(["3", "4"]);
  });

  it("are as of the beginning of the second", async () => {
    const { stage, ask } = openStage();
    stage.seconds = 12.7;
    expect(await ask("/", async (now) => document(now.toISOString()))).toContain(":12.000Z");
  });

  it("made while something changed are sent to earlier requests only", async () => {
    const { stage, ask } = openStage();
    let finish = (_: Document) => {};
    const early = ask("/", () => new Promise((resolve) => (finish = resolve)));
    const together = ask();
    await new Promise((resolve) => setImmediate(resolve));
    stage.standing = "b";
    const late = ask();
    expect(await late).toBe("1");
    finish(document("of before"));
    expect(await Promise.all([early, together])).toEqual(["of before", "of before"]);
    expect(await ask()).not.toBe("of before");
  });

  it("that fail, refuse or are volatile are made again", async () => {
    const { ask, answers, source } = openStage();
    await expect(ask("/", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await answers.get(source("/"), async () => ({ rejected: "not_found" }))).toEqual({
      rejected: "not_found",
    });
    expect(await ask("/", async () => ({ ...document("passing"), isVolatile: true }))).toBe(
      "passing",
    );
    expect(await ask()).toBe("1");
  });

  it("take no more room than they are given", async () => {
    const { stage, ask } = openStage();
    for (let page = 0; page < 10; page += 1) await ask(`/${page}`);
    expect(await ask("/9")).toBe("10");
    await ask("/0");
    expect(stage.made).toBe(11);
  });

  it("of requests that come together are made once, without another look at the version", async () => {
    const { stage, ask } = openStage();
    await Promise.all(Array.from({ length: 50 }, () => ask()));
    expect(stage).toMatchObject({ reads: 0, made: 1 });
    await Promise.all(Array.from({ length: 50 }, () => ask()));
    expect(stage.made).toBe(1);
  });

  it("of an earlier position are not sent to who asks for a later one", async () => {
    const { stage, ask, askAtLeast } = openStage();
    expect(await ask()).toBe("1");
    expect(await askAtLeast(1n)).toBe("1");
    stage.standing = "b";
    stage.position = 2n;
    const made = await askAtLeast(2n);
    expect(await ask()).toBe(made);
    expect(Number(made)).toBeGreaterThan(1);
  });
});

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
