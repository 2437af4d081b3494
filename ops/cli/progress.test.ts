import { afterEach, expect, it, vi } from "vitest";
import { openProgress } from "./output.ts";

afterEach(() => {
  vi.useRealTimers();
});

function openStream(isTTY: boolean, columns = 120) {
  const written: string[] = [];
  return { written, isTTY, columns, write: (text: string) => written.push(text) > 0 };
}

const step = { task: "chain 1", total: 1_000, unit: "blocks" };

it("shows a bar with rate and time left on one changing line of a terminal", () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  const stream = openStream(true);
  const progress = openProgress("indexing", stream);
  progress.report({ ...step, done: 100 });
  vi.advanceTimersByTime(2_000);
  progress.report({ ...step, done: 500 });
  vi.advanceTimersByTime(250);
  progress.end();

  const shown = stream.written.findLast((text) => text.includes("indexing")) ?? "";
  expect(shown).toMatch(/\[█{10}░{10}\] 500 of 1000 blocks \(50 %\), 178 blocks\/s, 3 s left$/);
  expect(stream.written.join("")).not.toContain("\n");
});

it("never exceeds the width of the terminal", () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  const stream = openStream(true, 40);
  const progress = openProgress("indexing", stream);
  progress.report({ ...step, done: 500 });
  vi.advanceTimersByTime(1_000);
  progress.end();
  for (const text of stream.written) expect(text.replace("\r\u001b[K", "").length).toBeLessThan(40);
});

it("prints a line every ten seconds elsewhere, without a bar", () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  const stream = openStream(false);
  const progress = openProgress("indexing", stream);
  for (const done of [100, 200, 300]) {
    progress.report({ ...step, done });
    vi.advanceTimersByTime(10_000);
  }
  progress.end();
  expect(stream.written).toHaveLength(3);
  expect(stream.written.at(-1)).toMatch(
    /^indexing chain 1: 300 of 1000 blocks \(30 %\), \d+ blocks\/s, \d+ s left\n$/,
  );
});
