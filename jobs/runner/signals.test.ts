import { expect, it } from "vitest";
import { createPolledSignal } from "./signals.ts";

const { signal } = new AbortController();

/** A polled signal of which each wait ends as `notified` says, and the milliseconds that it was asked to wait. */
async function waitsOf(
  turns: readonly { notified: boolean; found?: boolean }[],
): Promise<number[]> {
  const waits: number[] = [];
  let wasNotified = false;
  const polled = createPolledSignal({
    async wait(atMostMs) {
      waits.push(atMostMs);
      return wasNotified;
    },
  });
  for (const { notified, found = false } of turns) {
    wasNotified = notified;
    await polled.wait(Number.POSITIVE_INFINITY, signal);
    if (found) polled.found();
  }
  await polled.wait(Number.POSITIVE_INFINITY, signal);
  return waits;
}

it("polls four times a second until notifications arrive, then every three seconds", async () => {
  expect(await waitsOf([{ notified: false }, { notified: true }, { notified: false }])).toEqual([
    250, 250, 3_000, 3_000,
  ]);
});

it("keeps polling slowly while work is found after notifications of it", async () => {
  const turn = { notified: true, found: true };
  expect(await waitsOf([turn, turn])).toEqual([250, 3_000, 3_000]);
});

it("polls four times a second again once work is found without a notification", async () => {
  expect(await waitsOf([{ notified: true }, { notified: false, found: true }])).toEqual([
    250, 3_000, 250,
  ]);
});

it("waits as long as it is asked to", async () => {
  const waits: number[] = [];
  const polled = createPolledSignal({
    async wait(atMostMs) {
      waits.push(atMostMs);
      return true;
    },
  });
  await polled.wait(100, signal);
  expect(waits).toEqual([100]);
});
